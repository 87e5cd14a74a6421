module bbrlab.example/reno

go 1.21
