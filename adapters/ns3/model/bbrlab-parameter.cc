// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-parameter.h"

#include "bbrlab-congestion.h"
#include "bbrlab-types.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/string.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace bbrlab
{

using namespace ns3;

namespace
{

/// Whether a parameter is a text, or a switch that also accepts texts. The description of such a
/// switch has the texts in quotes.
bool
IsText(const bbrlab_parameter& parameter)
{
    return parameter.kind == BBRLAB_PARAM_TEXT ||
           (parameter.kind == BBRLAB_PARAM_SWITCH && std::strchr(parameter.summary, '"'));
}

/// Sets and reads a parameter of the library as an attribute of ns-3, by the parameter's text.
class Accessor : public AttributeAccessor
{
  public:
    Accessor(uint32_t number, Ptr<const AttributeChecker> checker)
        : m_number(number),
          m_checker(checker)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* congestion = dynamic_cast<Congestion*>(object);
        return congestion &&
               congestion->SetParameter(m_number, value.SerializeToString(m_checker));
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto* congestion = dynamic_cast<const Congestion*>(object);
        return congestion &&
               value.DeserializeFromString(congestion->GetParameter(m_number), m_checker);
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    uint32_t m_number;
    Ptr<const AttributeChecker> m_checker;
};

} // namespace

void
AddParameter(TypeId& typeId, uint32_t number, const bbrlab_parameter& parameter)
{
    const auto add = [&](const AttributeValue& initial, Ptr<const AttributeChecker> checker) {
        typeId.AddAttribute(CamelCase(parameter.name),
                            parameter.summary,
                            initial,
                            Create<Accessor>(number, checker),
                            checker);
    };
    const char* text = parameter.default_value;
    if (IsText(parameter))
    {
        add(StringValue(text), MakeStringChecker());
    }
    else if (parameter.kind == BBRLAB_PARAM_INTEGER)
    {
        add(IntegerValue(std::strtoll(text, nullptr, 10)), MakeIntegerChecker<int64_t>());
    }
    else if (parameter.kind == BBRLAB_PARAM_RATIO)
    {
        add(DoubleValue(std::strtod(text, nullptr)), MakeDoubleChecker<double>());
    }
    else
    {
        add(BooleanValue(std::strcmp(text, "true") == 0), MakeBooleanChecker());
    }
}

bbrlab_param
ToLibrary(const bbrlab_parameter& parameter, const std::string& text)
{
    bbrlab_param param{};
    param.size = sizeof param;
    param.kind = parameter.kind;
    param.name = parameter.name;
    param.text = text.c_str();
    const bool isSwitch = text == "true" || text == "false";
    if (parameter.kind == BBRLAB_PARAM_INTEGER)
    {
        param.value = std::strtoll(text.c_str(), nullptr, 10);
    }
    else if (parameter.kind == BBRLAB_PARAM_RATIO)
    {
        param.value = std::llround(std::strtod(text.c_str(), nullptr) * 1e6);
    }
    else if (parameter.kind == BBRLAB_PARAM_SWITCH && isSwitch)
    {
        param.value = text == "true" ? 1 : 0;
    }
    else
    {
        param.kind = BBRLAB_PARAM_TEXT;
    }
    return param;
}

} // namespace bbrlab
