#!/usr/bin/env bash
# Twins on the virtual rig: cases of the inverter replayed with the twin in the loop (B-20), a torque limit that follows an estimated
# temperature (B-21), a stop by one, and a simulated motor that ages with the real one.
set -u
source "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"
rig=$source/scenarios/rig
network=$source/scenarios/twin-inverter
quick='--trust none --no-verdict --quiet --set record.every=1'
junction='"inverter.t(j1)","twin.t(j1)","twin.sd.t(j1)"'
seeds='1 2 3' beliefs='2.58e-3 7.74e-3'
[ -z "${YOKE_FULL:-}" ] || seeds='1 2 3 4 5 6 7 8 9 10' beliefs='2.58e-3 3.9e-3 5.163e-3 7.516e-3 7.74e-3'

# over FOLDER EXPRESSION: of awk, true in every row of FOLDER/results.csv; there v["unit.signal"] is a number
over() {
  local n
  n=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { for (name in at) v[name] = $at[name] } !('"$2"') { print v["time"] }' "$1/results.csv" | head -n 1)
  if [ -s "$1/results.csv" ] && [ -z "$n" ]; then pass; else bad "$1: $2 does not hold at t = $n s"; fi
}

# measure FOLDER EXPRESSION: root mean square and largest value of an expression of awk over all rows
measure() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { for (name in at) v[name] = $at[name]; e = '"$2"'; s += e * e; if (e > m || NR == 2) m = e }
    END { printf "%.9g %.9g\n", sqrt(s / (NR - 1)), m }' "$1/results.csv"
}

# ---- B-20: true losses of the cases of estimation.md, unknown to a twin with 208 W as its guess, on the rig
case_netlist() {
  printf '%s\n' "Case $1" ".include $network/inverter.inc" '.input i=0 A' '.input omega=0 rad/s' ".func q(t_j) {$2}"
  for k in 1 2 3 4 5 6; do
    echo "heat_source Q$k j$k {q(t(j$k))}"
  done
  echo .end
}
case_netlist 1 '208' >case1.cir
case_netlist 2 '208*u(time-0.1) + 117*u(time-1) - 200*u(time-2)' >case2.cir
case_netlist 3 '1.355*t_j - 206.58' >case3.cir
case_netlist 4 '600' >case4.cir
sed -e "s|file: twin.csv|file: $rig/twin.csv|; s|twin: \.\./twin-inverter|twin: $network|" \
  -e "s|^connections:|  coolant: {law: constant, with: {value: 343.15}}\nconnections:\n  - coolant.y -> inverter.coolant\n  - coolant.y -> twin.coolant|" \
  "$rig/twin.yaml" >rig.yaml
sed -e '/^  coolant: {law/d' -e "s|^laws:|  coolant: {circuit: $network/coolant.cir}\nlaws:|; s|coolant\.y|coolant.t|" rig.yaml >rig4.yaml
bounds=(0 0.7 0.7 1.0 1.7)
for n in 1 2 3 4; do
  file=rig.yaml more=
  [ $n -lt 4 ] || file=rig4.yaml more='--set units.inverter.with.t0=293.15 --set units.twin.with.t0=293.15'
  for seed in $seeds; do
    run 0 run $file $quick $more --set "units.inverter.circuit=case$n.cir" --set units.sensor.with.seed=$seed \
      --set 'quality.stop.above.twin.t(j1)=1000' --set "record.signals=[$junction,\"inverter.i(q1)\"]" --out case$n
    e='v["twin.t(j1)"] - v["inverter.t(j1)"]'
    read -r rms _ < <(measure case$n "$e")
    read -r rest _ < <(measure case$n "$e - 2.353e-3 * v[\"inverter.i(q1)\"]")
    echo "B-20 case $n, seed $seed: junction off by $rms K rms, $rest K without Q dR_die"
    holds "$rms <= ${bounds[$n]} && $rest <= 0.4"
  done
done

# ---- B-21: the junction never exceeds the limit by more than 1 K + 3 sigma, with an R_die of the twin 50 % below and above the true
# 5.163 mK/W, with losses as the file says or 2.7 times the resistance, a band of 20 or 5 K, coolant 20 K warmer than the twin knows
worst=-1000
limited() {
  run 0 run "$rig/twin.yaml" $quick "$@" --set "record.signals=[$junction,torque.y,slope.y]" --out limited
  over limited 'v["inverter.t(j1)"] <= 393.15 + 1 + 3 * v["twin.sd.t(j1)"]'
  over limited 'v["torque.y"] <= v["slope.y"] && v["torque.y"] >= -v["slope.y"]'
  read -r _ above < <(measure limited 'v["inverter.t(j1)"] - 394.15 - 3 * v["twin.sd.t(j1)"]')
  worst=$(awk "BEGIN { print ($above > $worst ? $above : $worst) }")
}
open='--set laws.limit.with.low=1000 --set laws.limit.with.high=2000 --set quality.stop.above.twin.t(j1)=1000'
for r_on in 1.5e-3 4e-3; do
  run 0 run "$rig/twin.yaml" $quick $open --set units.inverter.with.r_on=$r_on --set "record.signals=[$junction]" --out open
  read -r _ above < <(measure open 'v["inverter.t(j1)"] - 394.15 - 3 * v["twin.sd.t(j1)"]')
  echo "B-21 resistance $r_on Ohm without derating: $above K above what is allowed"
  holds "$above > 5"
  for seed in $seeds; do
    for r_die in $beliefs; do
      for low in 373.15 388.15; do
        limited --set units.inverter.with.r_on=$r_on --set units.sensor.with.seed=$seed --set units.twin.with.r_die=$r_die \
          --set laws.limit.with.low=$low --set 'quality.stop.above.twin.t(j1)=1000'
      done
    done
  done
  limited --set units.inverter.with.r_on=$r_on --set units.inverter.start.coolant=363.15 --set units.inverter.with.t0=363.15
done
echo "B-21 largest temperature less limit, 1 K and 3 sigma: $worst K"

# ---- a limit of the estimate stops the run: torque down, shaft down, SAFE
open='--set laws.limit.with.low=1000 --set laws.limit.with.high=2000'
signals='--set time.stop=9 --set record.signals=["*",rig.throttle,rig.omega_ref]'
run 3 run "$rig/twin.yaml" $quick $open $signals --out hot
says 'error: quality limit: twin.t(j1) is 398.'
says 'above the stop limit of 398.15 K'
clock='--realtime=20 --set time.pace.overrun=skip --set time.pace.limit=1000000 --set safe[0].over=0.02 --set safe[1].over=0.3'
run 3 run "$rig/twin.yaml" $quick $open $signals $clock --out safe
says 'above the stop limit of 398.15 K'
says '"state": "SAFE"' safe/summary.json
says '"status": "stopped by a quality limit"' safe/summary.json
# as far as the limit it is the run without a clock; behind it the torque falls by at most 1 N.m in 1 ms (400 N.m in 0.4 s), and both end at rest
n=$(wc -l <hot/results.csv)
for folder in hot safe; do
  head -n "$((n - 1))" $folder/results.csv >$folder.rows
done
if cmp -s hot.rows safe.rows; then pass; else bad 'rows before the limit differ'; fi
last=$(tail -n 1 hot/results.csv | cut -d, -f1)
over safe "v[\"time\"] < $last || v[\"time\"] > $last + 0.4 || v[\"rig.throttle\"] <= 400 - 990 * (v[\"time\"] - $last - 0.002)"
over safe "v[\"time\"] < $last + 0.45 || (v[\"rig.torque_mut\"] < 5 && v[\"rig.torque_mut\"] > -5)"
over safe "v[\"time\"] < $last + 6.4 || (v[\"rig.omega\"] < 1 && v[\"rig.omega\"] > -1)"
holds "$(tail -n 1 safe/results.csv | cut -d, -f1) > $last + 6.3"

# ---- by the clock the rows are those of the run without it
run 0 run "$rig/twin.yaml" $quick --set time.stop=1 --out plain
"$yoke" run "$rig/twin.yaml" $quick --set time.stop=1 --realtime=5 --set time.pace.overrun=continue --out paced >out 2>&1
case $? in 0 | 4) pass ;; *) bad 'a paced run of twin.yaml' ;; esac
head -n "$(wc -l <plain/results.csv)" paced/results.csv >rows
if cmp -s rows plain/results.csv; then pass; else bad 'the paced run gives other rows'; fi

# ---- a simulated motor ages with the real one: it follows, never back, and never faster than 3e-4 K/W per second
for seed in $seeds; do
  run 0 run "$rig/ageing.yaml" $quick --set units.sensor.with.seed=$seed --set 'record.signals=[error.y,without.y,ageing.y]' --out aged
  over aged 'v["error.y"] < 0.6 && v["error.y"] > -0.6'
  slopes=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "ageing.y") y = i; next }
    NR > 2 { d = $y - last; if (NR == 3 || d > high) high = d; if (NR == 3 || d < low) low = d } { last = $y }
    END { print low, high }' aged/results.csv)
  echo "ageing, seed $seed: from ${slopes/ / to } K/W in 0.1 s"
  holds "${slopes% *} >= 0 && ${slopes#* } <= 3.0001e-5 && ${slopes#* } > 2.9999e-5"
  over aged 'v["time"] < 2200 || (v["ageing.y"] > 1.09 && v["ageing.y"] < 1.12 && v["without.y"] < -6)'
done

finish
