#!/usr/bin/env python3
"""Writes the reference solutions of the circuit benchmarks: tools/make_circuit_references.py [DIRECTORY]

None of them comes from the circuit solver, and each is computed in another way than the solver works:

  rlc         closed form of the forced oscillator V' = (E/R - V/R - I)/C, I' = V/L
  ladder-2    one Taylor series of the state equations per sample, sine and cosine being two more states
  rectifier   the bridge reduced to one state (the current of the inductor) and integrated with the three-stage
              Radau IIA formula of order 5, its grid refined at each zero crossing of the source
  pmsm        the network reduced to its nine heat capacities and integrated with the classical Runge-Kutta formula

A line per problem says how far the numbers move when the grid is halved. Plain Python; takes about two minutes.
"""
import math
import sys

W = 10 * math.pi  # E = 100 sin(W t) V


def write(directory, name, columns, rows):
    with open(f"{directory}/{name}.reference.csv", "w", encoding="ascii") as file:
        file.write(",".join(f'"{c}"' if "," in c else c for c in columns) + "\n")
        for row in rows:
            file.write(",".join(f"{x:.13g}" for x in row) + "\n")


def solve(matrix, right):
    """Gauss elimination with partial pivoting."""
    n = len(right)
    a = [list(matrix[i]) + [right[i]] for i in range(n)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[p] = a[p], a[k]
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            if f != 0:
                for j in range(k, n + 1):
                    a[i][j] -= f * a[k][j]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


# ---- rlc


def rlc():
    r, l, c = 10.0, 0.1, 0.6
    a, w0 = 1 / (2 * r * c), 1 / math.sqrt(l * c)
    wd = math.sqrt(w0 * w0 - a * a)
    # forced part: I = p sin + q cos from L C I'' + L/R I' + I = 100/R sin
    d, e, f = 1 - l * c * W * W, l * W / r, 100 / r
    p, q = f * d / (d * d + e * e), -f * e / (d * d + e * e)
    # free part: I(0) = 0, V(0) = L I'(0) = 0
    g = -q
    k = (a * g - p * W) / wd
    rows = []
    for i in range(1, 1001):
        t = i / 100
        s, co = math.sin(W * t), math.cos(W * t)
        sd, cd, ex = math.sin(wd * t), math.cos(wd * t), math.exp(-a * t)
        current = p * s + q * co + ex * (g * cd + k * sd)
        slope = W * (p * co - q * s) + ex * ((wd * k - a * g) * cd - (wd * g + a * k) * sd)
        rows.append((t, l * slope, current))
    return rows


# ---- ladder


def ladder_matrix(n, r=10.0, l=0.1, c=0.1):
    """z = [I_L (n), V_C (n), sin, cos]; node d_i = E - R sum_j min(i, j) I_j."""
    size = 2 * n + 2
    a = [[0.0] * size for _ in range(size)]
    for i in range(n):
        for j in range(n):
            a[i][j] = -r * (min(i, j) + 1) / l
        a[i][n + i] = -1 / l
        a[i][2 * n] = 100 / l
        a[n + i][i] = 1 / c
    a[2 * n][2 * n + 1] = W
    a[2 * n + 1][2 * n] = -W
    return a


def ladder(n, pieces):
    a = ladder_matrix(n)
    z = [0.0] * (2 * n + 1) + [1.0]
    h = 0.01 / pieces
    rows = []
    for i in range(1, 101):
        for _ in range(pieces):
            term, total = z, list(z)
            for k in range(1, 40):
                term = [h / k * sum(x * y for x, y in zip(row, term)) for row in a]
                total = [x + y for x, y in zip(total, term)]
            z = total
        rows.append((i / 100, z[2 * n - 1], z[n - 1], z[n], z[0]))
    return rows


# ---- rectifier

IS, NVT, RS = 1e-15, 1.5 * 1.380649e-23 * 300 / 1.602176634e-19, 1e-3
RL, LL = 10.0, 0.1


def diode(v):
    """Current of junction and series resistance at the terminal voltage v, and its derivative."""
    if v < 0.3:
        i = IS * math.expm1(v / NVT)  # the series resistance takes less than 1e-14 V
        return i, (IS + i) / NVT
    # Newton in u, the voltage of the junction: u + RS IS (exp(u/NVT) - 1) = v, from above
    u = min(v, NVT * math.log(1 + v / (RS * IS)))
    for _ in range(100):
        ex = IS * math.exp(u / NVT)
        du = (u + RS * (ex - IS) - v) / (1 + RS * ex / NVT)
        u -= du
        if abs(du) < 1e-15 * abs(u):
            break
    i = IS * math.expm1(u / NVT)
    return i, 1 / (RS + NVT / (IS + i))


SQ6 = math.sqrt(6)
RADAU_C = ((4 - SQ6) / 10, (4 + SQ6) / 10, 1.0)
RADAU_A = (
    ((88 - 7 * SQ6) / 360, (296 - 169 * SQ6) / 1800, (-2 + 3 * SQ6) / 225),
    ((296 + 169 * SQ6) / 1800, (88 + 7 * SQ6) / 360, (-2 - 3 * SQ6) / 225),
    ((16 - SQ6) / 36, (16 + SQ6) / 36, 1 / 9),
)


def rectifier_step(t, h, current, s):
    """One step; unknowns are the forward voltages s of the conducting pair at the three points."""
    e = [abs(100 * math.sin(W * (t + c * h))) for c in RADAU_C]
    x = [s] * 3
    for _ in range(60):
        i, g, f = [0.0] * 3, [0.0] * 3, [0.0] * 3
        for j in range(3):
            i1, g1 = diode(x[j])
            i2, g2 = diode(x[j] - e[j])
            i[j], g[j] = i1 + i2, g1 + g2
            f[j] = (e[j] - 2 * x[j] - RL * i[j]) / LL
        residual = [i[j] - current - h * sum(RADAU_A[j][k] * f[k] for k in range(3)) for j in range(3)]
        matrix = [
            [(g[j] if j == k else 0.0) + h * RADAU_A[j][k] * (2 + RL * g[k]) / LL for k in range(3)]
            for j in range(3)
        ]
        dx = solve(matrix, residual)
        # exponentials: no more than a few thermal voltages upwards at once
        dx = [max(d, -4 * NVT) for d in dx]
        x = [x[j] - dx[j] for j in range(3)]
        if max(abs(d) for d in dx) < 1e-14:
            break
    return i[2] if max(abs(d) for d in dx) > 1e-12 else diode(x[2])[0] + diode(x[2] - e[2])[0], x[2]


def rectifier(fine):
    current, s = 0.0, 0.0
    rows = []
    for m in range(1000):  # one row per millisecond
        phase = m % 100
        pieces = 2000 if phase in (0, 99) else 400 if phase in (1, 98) else 20
        pieces = int(pieces * fine)
        for k in range(pieces):
            current, s = rectifier_step((m + k / pieces) * 1e-3, 1e-3 / pieces, current, s)
        t = (m + 1) * 1e-3
        e = 100 * math.sin(W * t) if (m + 1) % 100 else 0.0
        rows.append((t, s if e >= 0 else s + e, current))
    return rows


# ---- pmsm


def gap_resistance(t3, t4):
    e, rm, omega, area = 0.82e-3, 72.61e-3, 1570.0, 0.031936
    tau = (0.5 * (t3 + t4) - 300) / 50
    nu = (15.89 + 5.03 * tau + 0.23 * tau * (tau - 1)) * 1e-6
    k = (26.3 + 3.7 * tau + 0.05 * tau * (tau - 1)) * 1e-3
    x = (e / rm) / (1 - e / (2 * rm))
    p = 0.0571 * (1 - 0.625 * x) + 0.00056 / (1 - 0.625 * x)
    fg = math.pi**4 / (1697 * p * (1 - e / (2 * rm)) ** 2)
    tam = omega**2 * rm * e**3 / nu**2 / fg
    nusselt = 2.0 if tam < 1700 else 0.128 * tam**0.367 if tam <= 1e4 else 0.409 * tam**0.241
    return 2 * e / (nusselt * k * area)


def pmsm_rates(x):
    """x = [T1, T2, T6, T9, T10, T11, T12, T13, T14]."""
    t1, t2, t6, t9, t10, t11, t12, t13, t14 = x
    # rotor -> stator through nodes 3, 4, 5 without heat capacity; 200 W enter at node 5
    r_gap, old, heat = 0.215, 0.0, 0.0
    while abs(r_gap - old) > 1e-14:
        old = r_gap
        # T5 = T6 + 0.01 (heat + 200); T2 - T5 = heat (0.015 + r_gap + 0.025)
        heat = (t2 - t6 - 0.01 * 200) / (0.015 + r_gap + 0.025 + 0.01)
        r_gap = gap_resistance(t2 - 0.015 * heat, t2 - (0.015 + r_gap) * heat)
    winding = (t9 - t6) / (0.001 + 0.05 + 0.01)
    yoke = (t6 - t10) / 0.0025
    inner = t1 - t2
    h1, h2 = (t10 - t11) / 0.25, (t10 - t12) / 0.25
    p1, p2 = (t13 - t11) / 0.5, (t14 - t12) / 0.5
    a1, a2 = t1 - t13, t1 - t14
    return (
        (-inner / 0.025 - a1 - a2) / 2000,
        (inner / 0.025 - heat + 150) / 5000,
        (heat + 200 + winding - yoke) / 1500,
        (2000 - winding) / 2000,
        (yoke - h1 - h2 - (t10 - 320) / 0.001) / 3000,
        (h1 + p1) / 300,
        (h2 + p2) / 300,
        (a1 - p1 - (t13 - 300) / 3 + 50) / 500,
        (a2 - p2 - (t14 - 300) / 3 + 50) / 500,
    )


def pmsm(fine, seconds=5000):
    x = [300.0] * 9
    rows = []
    for second in range(seconds):
        pieces = int((100 if second < 100 else 10) * fine)
        h = 1 / pieces
        for _ in range(pieces):
            k1 = pmsm_rates(x)
            k2 = pmsm_rates([a + h / 2 * b for a, b in zip(x, k1)])
            k3 = pmsm_rates([a + h / 2 * b for a, b in zip(x, k2)])
            k4 = pmsm_rates([a + h * b for a, b in zip(x, k3)])
            x = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(x, k1, k2, k3, k4)]
        rows.append((second + 1, x[1], (x[4] - 320) / 0.001))
    return rows


def moved(rows, others):
    return ", ".join(f"{max(abs(a[j] - b[j]) for a, b in zip(rows, others)):.1e}" for j in range(1, len(rows[0])))


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else "scenarios/circuits"
    write(directory, "rlc", ("time", "v(3)", "i(l1)"), rlc())
    print("rlc: closed form")
    rows = ladder(2, 4)
    write(directory, "ladder-2", ("time", "v(6)", "i(l2)", "v(4)", "i(l1)"), rows)
    print("ladder-2:", moved(rows, ladder(2, 2)))
    rows = pmsm(1)
    write(directory, "pmsm", ("time", "t(magnets)", "i(rwater)"), rows)
    print("pmsm, first 600 s:", moved(rows[:600], pmsm(0.5, 600)))
    rows = rectifier(1)
    write(directory, "rectifier", ("time", "v(2,3)", "i(l1)"), rows)
    print("rectifier:", moved(rows, rectifier(0.5)))


if __name__ == "__main__":
    main()
