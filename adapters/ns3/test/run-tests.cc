// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the test suite without ns-3's build: `run-tests --suite=bbrlab --verbose`.
#include "ns3/test.h"

int
main(int argc, char** argv)
{
    return ns3::TestRunner::Run(argc, argv);
}
