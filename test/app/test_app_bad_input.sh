#!/usr/bin/env bash
# Bad system files and bad command lines: every case has its exit status and says what is wrong, where, what was
# expected and, for a mistyped name, which one was probably meant. One mistake gives one message.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1

n_passed=0
n_failed=0
name=
is_good=true
seconds=20 # of processor time: far above what any case takes, far below a refusal that is not bounded

# ---- helpers

finish() {
  [ -n "$name" ] || return 0
  if $is_good; then n_passed=$((n_passed + 1)); else n_failed=$((n_failed + 1)); fi
  name=
}

# begin NAME: a case of its own, with NAME.yaml as its system file
begin() {
  finish
  name=$1
  is_good=true
}

bad() {
  echo "FAILED: $name: $*"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 4000 err
  is_good=false
}

# skip REASON: the rest of a case is left out
n_skipped=0
skip() {
  echo "skipped: $name: $*"
  n_skipped=$((n_skipped + 1))
}

# bounded ARGUMENTS...: yoke in the processor time allowed, whatever else runs on the machine
bounded() {
  (
    ulimit -t "$seconds"
    exec timeout 300 "$yoke" "$@"
  ) >out 2>err
}

# yoke_ends STATUS ARGUMENTS...
yoke_ends() {
  local want=$1 status
  shift
  bounded "$@"
  status=$?
  [ "$status" -eq "$want" ] || bad "yoke $*: status $status, expected $want"
}

err_has() { grep -qF -- "$1" err || bad "stderr lacks: $1"; }
err_lacks() { ! grep -qF -- "$1" err || bad "stderr has: $1"; }
out_has() { grep -qF -- "$1" out || bad "stdout lacks: $1"; }
n_errors() { [ "$(grep -c 'error:' err)" -eq "$1" ] || bad "expected $1 errors"; }

# at LINE:COLUMN TEXT: the message stands there, in the file of the case
at() { err_has "$name.yaml:$1: error: $2"; }

# body: stdin behind two lines of a sound file, so that it starts in line 3
body() {
  printf 'yoke: 1\ntime: {stop: 1, step: 1e-3}\n' >"$name.yaml"
  cat >>"$name.yaml"
}

# refused N [ARGUMENTS...]: check and run both refuse the file with the same N errors and leave nothing behind
refused() {
  local n=$1
  shift
  yoke_ends 2 run "$name.yaml" --out "$name.out" "$@"
  [ ! -e "$name.out" ] || bad "a refused file left a folder of results"
  cp err err_run
  yoke_ends 2 check "$name.yaml" "$@"
  cmp -s err err_run || bad "run and check say different things"
  n_errors "$n"
}

accepted() { yoke_ends 0 check "$name.yaml" "$@"; n_errors 0; }

# ---- text that is no system file

begin empty
: >empty.yaml
refused 1
at 1:1 'the file is empty; expected a map with the keys yoke, time and units'

begin only_comment
printf '# nothing\n\n' >only_comment.yaml
refused 1
at 1:1 'the file is empty'

begin binary
printf 'yoke: 1\n\377\376\001\002' >binary.yaml
refused 1
at 2:1 'the file is not UTF-8 text: unexpected byte 0xff'

begin program_as_file
yoke_ends 2 check "$yoke"
n_errors 1
err_has "$yoke:1:1: error:"

begin nul_byte
printf 'yoke: 1\nna\0me: x\n' >nul_byte.yaml
refused 1
err_has 'nul_byte.yaml:2:3: error:'

begin tabs
printf 'yoke: 1\ntime:\n\tstop: 1\n' >tabs.yaml
refused 1
at 3:1 'a tab cannot be used for indentation here; use spaces'

begin duplicate_keys
body <<'END'
units: {a: {model: constant}, a: {model: constant}}
name: x
name: y
END
refused 2
at 3:31 "the key 'a' was given before at line 3, column 9"
at 5:1 "the key 'name' was given before at line 4, column 1"

begin alias
body <<'END'
units: {a: &x {model: constant}, b: *x}
END
refused 2
err_has 'alias.yaml:3:'

begin large
head -c 68000000 /dev/zero | tr '\0' '#' >large.yaml
seconds=10 refused 1
err_has 'larger than 67108864 bytes'
rm -f large.yaml

begin long_key
long_key="expected 'key: value' with a key of at most 1024 characters; a text with ': ' needs quotes"
{ head -c 100000 /dev/zero | tr '\0' 'k'; printf ': 1\n'; } >long_key.yaml
refused 1
at 1:100001 "$long_key"
{ printf 'yoke: 1\n'; cat long_key.yaml; } >longer.yaml && mv longer.yaml long_key.yaml
refused 1
at 2:1 "$long_key"
{ printf 'yoke: 1\n'; head -c 100000 /dev/zero | tr '\0' 'k'; printf '\n'; } >long_key.yaml # no key at all
refused 1
at 2:1 "expected 'key: value': no ':' follows this text"

# ten megabytes of nesting end at the limit, not at the end of the file or of the stack
nested() { # LINE:COLUMN
  seconds=10 refused 1
  at "$1" 'nested too deeply: at most 64 maps and lists inside each other'
  rm -f "$name.yaml"
}
begin nested_lists
head -c 10000000 /dev/zero | tr '\0' '[' >nested_lists.yaml
nested 1:65
begin nested_maps
head -c 10000000 /dev/zero | tr '\0' '{' >nested_maps.yaml
nested 1:65
begin nested_block_lists
yes -- '- - - -' | tr '\n' ' ' | head -c 10000000 >nested_block_lists.yaml
nested 1:129
begin nested_block_maps
awk 'BEGIN { for (n = 0; n < 10000000; n += length(pad) + 3) { print pad "a:"; pad = pad " " } }' \
  >nested_block_maps.yaml
nested 65:65

# ---- unknown names

begin unknown_key
body <<'END'
units: {a: {model: constant, wiht: {value: 1}}}
schem: jacobi
END
refused 2
at 3:30 "unknown key 'wiht' in unit 'a'; did you mean 'with'?"
at 4:1 "unknown key 'schem' in the file; did you mean 'scheme'?"

begin unknown_key_far
body <<'END'
units: {a: {model: constant}}
record: {colour: red}
END
refused 1
at 4:10 "unknown key 'colour' in 'record'; known keys: signals, every, from, formats"

begin unknown_unit
body <<'END'
units: {left: {model: gain}, right: {model: constant}}
connections: [rigth.y -> left.u]
END
refused 1
at 4:15 "connection: unknown unit 'rigth'; did you mean 'right'?"

begin unknown_model
body <<'END'
units:
  left: {model: oscilator.force}
  right: {model: something}
END
refused 2
at 4:17 "unknown model 'oscilator.force'; did you mean 'oscillator.force'?"
at 5:18 "unknown model 'something'; \`yoke info\` lists the known ones"

begin unknown_variable
body <<'END'
units: {s: {model: spring_damper, start: {x1: 0, v1: 0, x2: 0}}, a: {model: oscillator.mass}}
connections: [s.force -> a.f, a.vv -> s.v2]
END
refused 2
at 4:15 "connection: 's' (spring_damper) has no variable 'force'"
at 4:31 "connection: 'a' (oscillator.mass) has no variable 'vv'; did you mean 'v'?"

begin unknown_parameter
body <<'END'
units: {a: {model: oscillator.mass, with: {micro_stpes: 2}, start: {f: 0, w: 1}}}
END
refused 2
at 3:44 "'oscillator.mass' has no parameter 'micro_stpes'; did you mean 'micro_steps'?"
at 3:75 "'oscillator.mass' has no state or input 'w'"

begin setting_in_wrong_place
body <<'END'
units: {a: {model: oscillator.mass, with: {x: 2}, start: {k: 1, f: 0, E: 1}}}
END
refused 3
at 3:44 "'x' of 'oscillator.mass' is an output; set it under 'start'"
at 3:59 "'k' of 'oscillator.mass' is a parameter; set it under 'with'"
at 3:71 "'E' of 'oscillator.mass' is an output and cannot be set"

begin unknown_scheme
body <<'END'
scheme: gaus-seidel
units: {a: {model: constant}}
END
refused 1
at 3:9 "'scheme': expected jacobi, gauss-seidel, iterative-jacobi or iterative-gauss-seidel, found the text 'gaus-seidel'; did you mean 'gauss-seidel'?"

begin unknown_method
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
bonds: {s: {action: a.y -> b.u, rate: b.y, coupling: {method: hodl}}}
couplings: {l: {method: magic, members: [a, b]}}
END
refused 2
at 4:63 "unknown coupling method 'hodl'; did you mean 'hold'?"
at 5:25 "unknown coupling method 'magic'; known: "

begin unknown_method_parameter
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
bonds: {s: {action: a.y -> b.u, rate: b.y, coupling: {method: hold, oder: 1}}}
END
refused 1
at 4:69 "method 'hold' has no parameter 'oder'; did you mean 'order'?"

# a method at a connection that has another mistake says nothing
begin method_of_wrong_end
body <<'END'
units: {a: {model: constant}, b: {model: gain}, c: {model: channel, with: {n: -1}}, d: {model: constant}, e: {model: gain}}
connections:
  - {from: a.yy, to: b.u, coupling: {method: adaptive}}
  - {from: d.y, to: c.u, coupling: {method: adaptive}}
  - {from: c.y, to: e.u, coupling: {method: hinf}}
END
refused 2
at 5:12 "connection: 'a' (constant) has no variable 'yy'; did you mean 'y'?"
err_has "unit 'c': n is -1, expected 1 to 100000"

begin unknown_in_bond
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
bonds: {s: {action: aa.y -> b.u, rate: b.yy}}
END
refused 2
at 4:21 "connection: unknown unit 'aa'; did you mean 'a'?"
at 4:40 "bond: 'b' (gain) has no variable 'yy'; did you mean 'y'?"

begin unknown_in_order
body <<'END'
scheme: gauss-seidel
order: [first, secnod]
units: {first: {model: constant}, second: {model: constant}}
END
refused 2
at 4:9 "order: unit 'second' is missing"
at 4:16 "order: 'secnod' is not a unit of this system; did you mean 'second'?"

begin unknown_signal
body <<'END'
units: {a: {model: constant}}
record: {signals: [a.z, "*", a.y]}
END
refused 1
at 4:20 "record: 'a.z' matches no variable"

# ---- wrong types and values

begin wrong_type
body <<'END'
units: {a: {model: constant, with: {value: 1 N/m}}, b: {model: counter, with: {limit: 1.5}},
        c: {model: oscillator.mass, with: {solver: rk5}, start: {f: "1"}}, d: [1], e: }
connections: a.y -> b.u
record: {every: often}
name: [1, 2]
END
refused 9
at 3:44 "parameter 'value' of 'a': expected a number without unit, found the text '1 N/m'"
at 3:87 "parameter 'limit' of 'b': expected an integer, found 1.5"
at 4:52 "parameter 'solver' of 'c': expected euler, semi-implicit-euler, rk4 or trapezoidal, found the text 'rk5'; did you mean 'rk4'?"
at 4:69 "start value 'f' of 'c': expected a number, found the text '1' (in quotes)"
at 4:79 "'d': expected a map, found a list"
at 4:84 "'e': expected a map such as {model: oscillator.force}, found nothing"
at 5:14 "'connections': expected a list of connections, found the text 'a.y -> b.u'"
at 6:17 "'every': expected an integer of at least 1, found the text 'often'"
at 7:7 "'name': expected a text, found a list"

begin wrong_shape
body <<'END'
units:
  a: {model: state_space, with: {A: [[1, 2], [3]]}}
  b: {model: state_space, with: {A: [[1, 2], [3, 4]], B: [1, 2, 3]}}
  c: {model: constant, with: {value: [1, 2]}}
  d: {model: sum, with: {n: 0}}
  e: {model: sum, with: {n: 1000000000}}
END
refused 5
at 4:46 "parameter 'A' of 'a': a row of 1 values, but the first row has 2"
at 5:3 "unit 'b': B has 3 rows, expected 2 as A"
at 6:38 "parameter 'value' of 'c': expected one value, found 2"
at 7:3 "unit 'd': n is 0, expected 1 to 10000"
at 8:3 "unit 'e': n is 1000000000, expected 1 to 10000"

while read -r step found; do
  begin "step_$step"
  printf 'yoke: 1\ntime: {stop: 1, step: %s}\nunits: {a: {model: constant, step: %s}}\n' "$step" \
    "$step" >"$name.yaml"
  refused 2
  at 2:23 "'step': expected a number greater than 0, found $found"
  at 3:36 "'step': expected a number greater than 0, found $found"
done <<'END'
-1e-3 -1e-3
0 0
-0 -0
1e-400 1e-400
.nan .nan (numbers must be finite)
NaN NaN (numbers must be finite)
.inf .inf (numbers must be finite)
1e999 1e999, which is too large for a number
abc the text 'abc'
END

begin step_missing
printf 'yoke: 1\ntime: {stop: 1}\nunits: {a: {model: constant}}\n' >step_missing.yaml
refused 1
at 2:1 "the key 'time.step' is missing; expected for example 'time: {stop: 10, step: 1e-3}'"

begin stop_before_start
body <<'END'
units: {a: {model: constant}}
END
refused 1 --set time.start=2
at 2:14 "'stop': expected a time behind the start 2, found 1"

begin stop_before_first_step
body <<'END'
units: {a: {model: constant}}
END
refused 1 --set time.stop=1e-4
err_has '--set time.stop: error: stop must be at least one step after start'

begin stop_too_far
body <<'END'
units: {a: {model: constant}}
END
refused 1 --set time.stop=1e300
err_has '--set time.stop: error: the run has more ticks than can be counted exactly'
# fast steps make many ticks, though the exchanges could be counted
refused 1 --set time.stop=1e5 --set units.a.step=1e-15
err_has '--set time.stop: error: the run has more ticks than can be counted exactly'

begin stop_between_steps
body <<'END'
units: {a: {model: constant}}
END
accepted --set time.stop=2.5e-3
err_has '--set time.stop: warning: stop is not a whole number of macro steps after start: the run ends at 0.002 s'
yoke_ends 2 run "$name.yaml" --set time.stop=2.5e-3 --strict
err_has 'yoke run: 1 warning, and --strict was given'

# ---- grids

begin no_common_grid
body <<'END'
units: {a: {model: constant, step: 3e-4}, b: {model: gain}}
connections: [a.y -> b.u]
END
refused 1
at 4:15 "a.y -> b.u: the exchange interval 0.001 s is not a multiple of the step 0.0003 s of 'a'; the steps have no common grid"

begin no_common_tick
body <<'END'
units: {a: {model: constant, step: 1.00000000000000001e-3}, b: {model: gain, step: 7e-22}}
connections: [a.y -> b.u]
END
refused 1
at 2:23 'the steps have no common tick'

begin exchange_below_step
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
connections: [{from: a.y, to: b.u, exchange: 5e-4}]
END
refused 1
at 4:15 "a.y -> b.u: the exchange interval 0.0005 s is not a multiple of the step 0.001 s of 'b'"

begin exchange_in_iterative_scheme
body <<'END'
scheme: iterative-jacobi
units: {a: {model: constant}, b: {model: gain}}
connections: [{from: a.y, to: b.u, exchange: 2e-3}]
END
refused 1
at 5:46 "iterative schemes exchange at the end of every macro step (0.001 s): remove 'exchange'"

begin delay_off_grid
body <<'END'
units: {a: {model: constant}, b: {model: gain}, c: {model: gain}}
connections:
  - {from: a.y, to: b.u, delay: 1.55e-3}
  - {from: a.y, to: c.u, delay: 1e9}
END
refused 2
at 5:33 "the delay must be a multiple of the connection's exchange interval 0.0001 s"
at 6:33 'the delay is 10000000000000 exchange intervals of 0.0001 s; expected at most 10000000'

begin delay_negative
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
connections: [{from: a.y, to: b.u, delay: -1e-3}]
END
refused 1
at 4:43 "'delay': expected a number that is 0 or greater, found -1e-3"

for order in -1 4 1.5 linear; do
  begin "order_$order"
  body <<END
units: {a: {model: constant}, b: {model: gain}, c: {model: gain, step: 1e-4}}
connections: [{from: a.y, to: b.u, order: $order}]
bonds: {s: {action: a.y -> c.u, rate: c.y, coupling: {method: hold, order: $order}}}
END
  refused 2
  at 4:43 "'order': expected an integer from 0 to 3, found "
  at 5:76 "'order': expected an integer"
done

# ---- wiring

begin two_sources
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
connections:
  - a.y -> b.u
  - b.y -> b.u
END
refused 1
at 6:5 "'b.u' has two sources: this one and 'a.y' in line 5"

begin two_sources_of_an_element
body <<'END'
units: {p: {model: pendulum.force, start: {vtip_other: [0, 0]}}, a: {model: constant}}
connections:
  - p.tip -> p.tip_other
  - "a.y -> p.tip_other[1]"
END
refused 1
at 6:5 "'p.tip_other[1]' has two sources: this one and 'p.tip' in line 5"

begin unconnected_input
body <<'END'
units:
  a: {model: gain}
  p: {model: pendulum.force, start: {vtip_other: [0, 0]}}
connections: ["a.y -> p.tip_other[1]"]
END
refused 2
at 4:3 "input 'a.u' is not connected and has no start value; connect it or write start: {u: ...}"
at 5:3 "input 'p.tip_other' is not connected and has no start value"
sed -i 's/{model: gain}/{model: gain, start: {u: 1}}/; s/start: {v/start: {tip_other: [0, 1], v/' "$name.yaml"
accepted

begin directions
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
connections:
  - a.y -> b.y
  - b.u -> b.u
  - a.value -> b.k
END
refused 3
at 5:12 "'b.y' is neither an input nor a tunable parameter: nothing can go into it"
at 6:5 "'b.u' is not an output: nothing can come from it"
at 7:5 "'a.value' is not an output: nothing can come from it"

begin sizes
body <<'END'
units: {p: {model: pendulum.force, start: {vtip_other: [0, 0]}}, b: {model: gain}, s: {model: select, with: {n: 3}}}
connections:
  - b.y -> p.tip_other
  - "p.tip[2] -> b.u"
  - p.F -> s.u
END
refused 3
at 5:5 'sizes do not match: b.y has 1 element, p.tip_other has 2'
at 6:6 "connection: there is no 'p.tip[2]': 'tip' has 2 elements, counted from 0"
at 7:5 'sizes do not match: p.F has 2 elements, s.u has 3'

begin types
body <<'END'
units:
  c: {model: counter}
  l: {model: label, with: {labels: [a, b]}}
  b: {model: gain}
  w: {model: switch, start: {a: 0, b: 0}}
connections:
  - c.count -> l.index
  - l.text -> b.u
  - b.y -> w.on
END
refused 2
at 10:5 'types do not match: l.text is string, b.u is real'
at 11:5 'types do not match: b.y is real, w.on is boolean'

begin dimensions
body <<'END'
units: {a: {model: oscillator.force}, b: {model: oscillator.mass}}
connections:
  - a.f -> a.v_other
  - a.x -> b.f
  - b.x -> a.x_other
END
refused 2
at 5:5 'dimensions do not match: a.f is in N, a.v_other in m/s'
at 6:5 'dimensions do not match: a.x is in m, b.f in N'
# a factor of the user's carries the missing dimension
sed -i 's/a.f -> a.v_other/{from: a.f, to: a.v_other, gain: 0.1}/; s/a.x -> b.f/{from: a.x, to: b.f, gain: 10}/' "$name.yaml"
accepted

begin names
body <<'END'
units: {a: {model: constant}, 1b: {model: constant}, bond: {model: constant}}
laws: {a: {law: gain, start: {u: 0}}, i: {law: integrator}}
END
refused 4
at 3:31 "'1b' is no name for a unit: expected a letter or '_', then letters, digits, '_' or '-'"
at 3:54 "the name 'bond' is reserved; choose another for this unit"
at 4:8 "the unit 'a' was named before at line 3, column 9"
at 4:48 "'integrator' has a state of its own and cannot be a law; list it under 'units'"

begin playback_files
printf 'time,x\n1,0\n0,1\n' >back.csv
printf 'time,x\n' >none.csv
body <<'END'
units:
  a: {model: playback, with: {file: nowhere.csv}}
  b: {model: playback, with: {file: back.csv}}
  c: {model: playback, with: {file: none.csv}}
  d: {model: gain}
connections: [a.x -> d.u]
END
refused 3
at 4:3 "unit 'a': cannot open"
err_has "back.csv:3: error: unit 'b': time 0 is before 1 of the row before"
at 6:3 "unit 'c': "
err_has 'has no rows'

# ---- loops

begin loop_without_solution # y = u + 1, u = y
body <<'END'
units: {one: {model: constant, with: {value: 1}}, s: {model: sum}, g: {model: gain}}
connections: [one.y -> s.u1, g.y -> s.u2, s.y -> g.u]
END
yoke_ends 2 run loop_without_solution.yaml --out loop.out
n_errors 1
[ ! -e loop.out ] || bad "a refused file left a folder of results"
at 3:51 'algebraic loop does not converge at the start: s.y, g.u, g.y, s.u2'
yoke_ends 2 check loop_without_solution.yaml

begin loop_that_iteration_leaves # y = 2 u + 1, u = y has the solution -1
body <<'END'
units: {one: {model: constant, with: {value: 1}}, s: {model: sum, with: {signs: [1, 2]}}, g: {model: gain}}
connections: [one.y -> s.u1, g.y -> s.u2, s.y -> g.u]
END
yoke_ends 0 run "$name.yaml" --out found.out --set time.stop=1e-3
awk -F, 'NR == 2 { d = ($3 + 1) * ($3 + 1) + ($4 + 1) * ($4 + 1); exit !(d < 1e-18) }' found.out/results.csv ||
  bad "the loop starts at $(sed -n 2p found.out/results.csv), expected 0,1,-1,-1"
yoke_ends 0 check "$name.yaml"
out_has 'loop     s.y g.u g.y s.u2 (iterated at the start)'

# ---- trust: names of real outputs, limit below wrong

begin trust_names
body <<'END'
units: {s: {model: sine}, g: {model: gain}}
connections: [s.y -> g.u]
trust: {signals: [s.y, g.z, "q.*"], limits: {g.u: 1e-3}}
END
refused 3
at 5:24 "trust: 'g.z' is no real output; did you mean 'g.y'?"
at 5:29 "trust: 'q.*' is no real output"
at 5:46 "trust: 'g.u' is no real output"

begin trust_values
body <<'END'
units: {s: {model: sine}, g: {model: gain}}
connections: [s.y -> g.u]
trust: {signals: ["*.y"], limits: {g.y: 1e-3}}
END
accepted --set trust.limit=0.02 --set trust.status=false --set trust.bands=true
out_has '  companions auto, exit status 0 also if wrong, bands over time are written'
out_has '  trustworthy up to an error of 2 % of the movement, wrong above 10 %'
out_has '  decided by *.y'
out_has '  limit of g.y: 0.001'
refused 1 --set trust.limit=0.2
err_has "--set trust.limit: error: 'trust': expected limit below wrong, found limit 0.2 and wrong 0.1"
refused 1 --set trust.companions=bth
err_has "did you mean 'both'?"

begin fresh_loop
body <<'END'
exchange: fresh
units: {one: {model: constant, with: {value: 1}}, s: {model: sum, with: {signs: [1, 0.5]}}, g: {model: gain}}
connections: [one.y -> s.u1, g.y -> s.u2, s.y -> g.u]
END
refused 1
at 4:51 'algebraic loop that fresh exchange and laws cannot break: s.y, g.u, g.y, s.u2; give one of its units exchange: stale, or a connection a delay'
accepted --set units.g.exchange=stale

begin law_loop
body <<'END'
units: {one: {model: constant, with: {value: 1}}}
laws: {s: {law: sum, with: {signs: [1, 0.5]}}, g: {law: gain}}
connections: [one.y -> s.u1, g.y -> s.u2, {from: s.y, to: g.u, delay: 0}]
END
refused 1
at 4:8 'algebraic loop that fresh exchange and laws cannot break: s.y, g.u, g.y, s.u2'
sed -i 's/delay: 0/delay: 1e-3/' "$name.yaml"
accepted

# ---- several errors in one go, of every stage, in the order of the file

begin several
body <<'END'
scheme: jacobbi
units:
  left: {model: oscillator.force, with: {kk: 1}}
  right: {model: oscilator.mass}
  third: {model: gain, wiht: {}}
connections:
  - lefd.x -> third.u
  - {from: left.x, to: left.x_other, gian: 2}
  - left.f -> left.v_other
record: {every: 0}
END
refused 8
at 3:9 "'scheme': expected jacobi"
at 5:42 "'oscillator.force' has no parameter 'kk'"
at 6:18 "unknown model 'oscilator.mass'"
at 7:24 "unknown key 'wiht' in unit 'third'"
at 9:5 "connection: unknown unit 'lefd'"
at 10:38 "unknown key 'gian' in the connection"
at 11:5 'dimensions do not match: left.f is in N, left.v_other in m/s'
at 12:17 "'every': expected an integer of at least 1, found 0"
cut -d: -f2 err | sort -n -c 2>/dev/null || bad "the messages are not in the order of the lines"

begin thousands
{
  printf 'yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n'
  for ((i = 0; i < 200; i++)); do echo "  unit_number_$i: {model: gain, start: {u: 0}}"; done
  echo 'connections:'
  for ((i = 0; i < 5000; i++)); do echo "  - unit_nmber_$i.y -> unit_x.u"; done
} >thousands.yaml
yoke_ends 2 check thousands.yaml
n_errors 1000
err_has '... and 9000 more'

# ---- --set

begin good
body <<'END'
units: {a: {model: constant}, b: {model: gain}}
connections: [a.y -> b.u]
END
accepted
accepted --set units.a.with.value=3 --set units.b.with.k=-2 --set time.stop=2e-3
yoke_ends 0 run good.yaml --quiet --out set.out --set units.a.with.value=3 --set time.stop=2e-3 --set units.b.with.k=-2
printf 'time,a.y,b.y\n0,3,-6\n0.001,3,-6\n0.002,3,-6\n' | cmp -s - set.out/results.csv ||
  bad "--set did not reach the run: $(cat set.out/results.csv)"

# set_refused SET MESSAGE
set_refused() {
  name=good refused 1 --set "$1"
  err_has "--set $2"
}
begin set_bad_path
set_refused time.stpe=1 "time.stpe: error: 'stpe' not found in 'time'; did you mean 'step'?"
set_refused speed=1 "speed: error: 'speed' not found in the file; known keys: yoke, name,"
set_refused units.q.step=1 "units.q.step: error: 'q' not found in 'units'"
set_refused units.a.with.valu=1 "units.a.with.valu: error: 'constant' has no parameter 'valu'; did you mean 'value'?"
begin set_bad_value
set_refused units.a.with.value=abc "units.a.with.value: error: parameter 'value' of 'a': expected a number, found the text 'abc'"
set_refused time.step=-1 "time.step: error: 'step': expected a number greater than 0, found -1"
set_refused time.step=nan "time.step: error: 'step': expected a number greater than 0, found nan (numbers must be finite)"
set_refused 'units.a.with.value=[1' "units.a.with.value: error: expected ',' or ']'"
set_refused units.a.model=constnat "units.a.model: error: unknown model 'constnat'; did you mean 'constant'?"
begin set_bad_form
set_refused time.step "time.step: error: expected path=value, for example time.step=1e-3"
set_refused '=1' ": error: expected path=value"
set_refused '' ": error: expected path=value"
yoke_ends 2 check good.yaml --set
err_has 'yoke check: option --set needs a value: --set PATH=VALUE'

# ---- files and folders

begin missing_file
yoke_ends 2 run nowhere.yaml
n_errors 1
err_has 'nowhere.yaml: error: cannot open the file: No such file or directory'

begin folder_as_file
mkdir folder
yoke_ends 2 run folder
n_errors 1
err_has 'folder: error: this is a folder, a file was expected'

begin file_that_cannot_be_read
if [ -r /proc/self/mem ]; then # opens, but reading fails: nothing is known about the input
  yoke_ends 1 check /proc/self/mem
  err_has '/proc/self/mem: error: cannot read the file'
else
  skip 'there is no /proc/self/mem'
fi

# as_nobody COMMAND...: without the rights of the superuser; 77 if that is not possible
as_nobody() {
  if [ "$(id -u)" -ne 0 ]; then
    "$@"
  elif command -v setpriv >/dev/null && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
  else
    return 77
  fi
}
begin no_permission
cp good.yaml secret.yaml
mkdir locked
chmod 755 "$work" locked
chmod 000 secret.yaml
chmod 555 locked
if as_nobody test -x "$yoke" 2>/dev/null; then
  as_nobody "$yoke" check secret.yaml >out 2>err
  [ $? -eq 2 ] || bad "an unreadable file is accepted"
  err_has 'secret.yaml: error: cannot open the file: Permission denied'
  as_nobody "$yoke" run good.yaml --out locked/r >out 2>err
  [ $? -eq 1 ] || bad "an unwritable folder is accepted"
  err_has 'error: cannot make folder locked/r: Permission denied'
  as_nobody "$yoke" run good.yaml --out locked >out 2>err
  [ $? -eq 1 ] || bad "an unwritable folder is accepted"
  err_has 'locked/results.csv: error: Permission denied'
else
  skip 'no other user, or the program is not visible to one'
fi

begin name_of_dots
cp good.yaml ...yaml
yoke_ends 0 run ...yaml
[ -s results/system/results.csv ] || bad "the results are not in results/system"
[ ! -e results.csv ] || bad "the results are outside of results/"
rm -rf results

# a unit that refuses a value at the start: the same status and words from both commands
begin value_refused_by_a_unit
body <<'END'
units: {a: {model: oscillator.mass, with: {m: 0}, start: {f: 0}}}
END
refused 1
at 3:9 "unit 'a': m must be above 0"
body <<'END'
units: {a: {model: oscillator.mass, start: {f: 0}}}
END
refused 1 --set units.a.with.m=0
at 3:9 "unit 'a': m must be above 0"

begin out_is_in_the_way
: >file
for folder in file file/deeper; do
  yoke_ends 1 run good.yaml --out "$folder"
  [ "$(cat err)" = 'error: cannot make folder file: a file of that name is in the way' ] ||
    bad "expected one message about the file"
  [ ! -s out ] || bad "a run without results has a summary"
done
mkdir -p taken/results.csv
yoke_ends 1 run good.yaml --out taken
err_has 'taken/results.csv: error: a folder of that name is in the way'
yoke_ends 1 run good.yaml --out /proc/no_such_place
err_has 'error: cannot make folder /proc/no_such_place: No such file or directory'
yoke_ends 2 run good.yaml --out ''
err_has 'yoke run: --out: expected the name of a folder, found nothing'

# ---- the command line

begin unknown_option
yoke_ends 2 run good.yaml --outt x
err_has "yoke run: unknown option '--outt'; did you mean '--out'?"
yoke_ends 2 run good.yaml --stop 3
err_has "yoke run: unknown option '--stop'; write --set time.stop=VALUE"
yoke_ends 2 check good.yaml --threads 2
err_has "yoke check: unknown option '--threads'"
yoke_ends 2 run good.yaml --quiet=yes
err_has 'yoke run: option --quiet takes no value'
yoke_ends 2 run
err_has 'yoke run: SYSTEM is missing'
yoke_ends 2 run good.yaml good.yaml
err_has "yoke run: unexpected argument 'good.yaml'"
yoke_ends 2 rnu good.yaml
err_has "yoke: unknown command 'rnu'; did you mean 'run'?"
yoke_ends 2 run good.yaml --threads many
err_has "yoke run: --threads: expected an integer from 0 to 256, found 'many'"

begin unknown_format
yoke_ends 2 run good.yaml --format cvs
err_has "yoke run: --format: unknown 'cvs'; did you mean 'csv'?"
yoke_ends 2 run good.yaml --format csv,xlsx
err_has "yoke run: --format: unknown 'xlsx'; known: csv, hdf5, mat"
yoke_ends 2 run good.yaml --set 'record.formats=[csv, htf5]'
err_has "expected csv, hdf5 or mat, found the text 'htf5'; did you mean 'hdf5'?"
[ ! -e results ] || bad "a refused command left a folder of results"

begin full_standard_output
if [ -w /dev/full ]; then
  for command in 'check good.yaml' 'check good.yaml --json' 'run good.yaml --out full.out' 'info'; do
    # shellcheck disable=SC2086
    "$yoke" $command >/dev/full 2>err
    [ $? -eq 1 ] || bad "yoke $command: expected status 1"
    err_has 'cannot write to standard output: No space left on device'
  done
else
  skip 'there is no /dev/full'
fi

# ---- stored bad files: none ends in anything but an answer

begin stored_files
for file in "$source_dir"/fuzz/corpus/scenario/*.yaml; do
  bounded check "$file"
  status=$?
  case $status in
    0 | 2) ;;
    *) bad "$file: status $status" ;;
  esac
  [ "$status" -eq 0 ] || grep -q 'error:' err || bad "$file: refused without a message"
done

finish
echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
