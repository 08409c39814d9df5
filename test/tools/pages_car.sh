#!/bin/sh
# Files that pages take for granted, made in the current folder: engine.fmu; car.ssp with a second system Winter.ssd in it and
# a unit called engine; car.ssd, its description as a bare file beside its resources.
set -eu
cp "$YOKE_FMUS/vanderpol3.fmu" engine.fmu
sed 's/\bleft\b/engine/g; s/^  step:.*//' scenarios/linear-oscillator/jacobi.yaml >car.yaml
yoke export car.yaml --ssp -o car.ssp >/dev/null
unzip -q -o car.ssp -d car
cp car/SystemStructure.ssd car/Winter.ssd
cp car/SystemStructure.ssd car.ssd
cp -r car/resources .
(cd car && zip -q -r ../car.ssp Winter.ssd)
