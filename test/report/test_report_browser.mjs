// What a reader of the page does: looks, clicks a bond, zooms, reads values, searches, switches to dark, prints.
// Usage: node test_report_browser.mjs BROWSER FOLDER PICTURES; FOLDER/NAME/report.html as test_report_browser.sh makes them.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, sleep } from "./browser.mjs";

const [, , program, folder, pictures] = process.argv;
mkdirSync(pictures, { recursive: true });
let nPassed = 0, nFailed = 0;

function check(isGood, text, measured) {
  if (isGood) nPassed++;
  else {
    nFailed++;
    console.log(`FAILED: ${text}${measured === undefined ? "" : ": " + JSON.stringify(measured)}`);
  }
}
const page = (name) => join(folder, name, "report.html");

// the columns of a result file
function results(name) {
  const [head, ...lines] = readFileSync(join(folder, name, "results.csv"), "utf8").trim().split("\n").map((line) => line.split(","));
  const column = (title) => lines.map((cells) => Number(cells[head.indexOf(title)]));
  return { time: column("time"), column };
}

// share of the pixels of a canvas that are neither transparent nor grey: lines that were drawn
const INK = (selector) => `(() => {
  const canvas = document.querySelector(${JSON.stringify(selector)});
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height }).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    const [r, g, b, a] = data.slice(i, i + 4);
    if (a > 100 && Math.max(r, g, b) - Math.min(r, g, b) > 60) n++;
  }
  return n / (canvas.width * canvas.height);
})()`;
const RANGE = `(() => { const d = document.querySelector("#signal-chart").dataset; return [Number(d.lo), Number(d.hi)]; })()`;
const SIGNAL_CANVAS = "#signal-chart canvas";

// nothing went wrong, nothing was loaded but the page
function checkClean(p, name) {
  check(p.problems.length === 0, `${name}: no error in the console`, p.problems);
  check(p.requests.length === 1 && p.requests[0].startsWith("file://"), `${name}: nothing is loaded but the page`, p.requests);
}

async function looksRight(browser) {
  const p = await browser.openPage(page("chain"));
  const name = "three masses, three rates";
  check(await p.evaluate(`document.querySelector("h1").textContent`) === name, "the name stands on top");
  check((await p.evaluate("document.title")).startsWith(name), "the title is the name");
  const verdict = await p.evaluate(`document.querySelector("#verdict b").textContent`);
  check(["trustworthy", "doubtful", "wrong", "not judged"].includes(verdict), "one verdict for the run", verdict);
  check(await p.evaluate(`document.querySelector("#verdict span").textContent.length`) > 20, "the verdict is explained");
  check(await p.evaluate(`document.querySelectorAll(".graph .unit").length`) === 3, "three boxes in the graph");
  check(await p.evaluate(`document.querySelectorAll(".graph .bond[data-bond]").length`) === 2, "two bonds in the graph");
  check(await p.evaluate(`document.querySelectorAll(".graph .link").length`) === 2, "two arrows in the graph");
  check(await p.evaluate(`document.querySelectorAll(".histogram rect").length`) > 3, "a histogram of step times");
  check((await p.evaluate(`document.querySelector("#file pre").textContent`)).includes("oscillator.force"), "the system file is on the page");
  check(await p.evaluate(INK(SIGNAL_CANVAS)) > 0.001, "signals are drawn", await p.evaluate(INK(SIGNAL_CANVAS)));
  await p.picture(join(pictures, "chain-light.png"), true);
  checkClean(p, "chain");
}

// a bond is opened by a click or with the keyboard; its plots are stacked and not empty
async function bondsOpen(browser) {
  const p = await browser.openPage(page("chain"));
  const open = (bond) => p.evaluate(`document.querySelector('.bond-card[data-bond="${bond}"] .bond-head').getAttribute("aria-expanded")`);
  const shut = await open("second") === "false" ? "second" : "first";
  check(await open(shut) === "false", "only the worst bond is open at first");
  await p.click(`.graph .bond[data-bond="${shut}"] rect`);
  check(await open(shut) === "true", "a click on a bond in the graph opens its card");
  const titles = await p.evaluate(`[...document.querySelectorAll('.chart[data-bond="${shut}"] .pane-head b')].map((node) => node.textContent)`);
  const wanted = ["action", "rate", "residual power", "accumulated energy", "residual relative"];
  check(titles.length === 5 && wanted.every((text, i) => titles[i].startsWith(text)), "action, rate, residual power, energy, rho", titles);
  for (let i = 0; i < 5; i++) {
    const ink = await p.evaluate(INK(`.chart[data-bond="${shut}"] .pane:nth-child(${i + 1}) canvas`));
    check(ink > 0.0005, `plot ${titles[i]} is not blank`, ink);
  }
  const place = () => p.evaluate(`(() => { const r = document.querySelector('.bond-card[data-bond="${shut}"]').getBoundingClientRect(); return [r.top, innerHeight]; })()`);
  let box = await place();
  for (let i = 0; i < 300 && box[0] >= box[1]; i++) {
    await sleep(100);
    box = await place();
  }
  check(box[0] < box[1], "the card is scrolled into sight", box);

  await p.click(`.bond-card[data-bond="${shut}"] .bond-head`);
  check(await open(shut) === "false", "a click on the card closes it");
  await p.evaluate(`document.querySelector('.graph .bond[data-bond="${shut}"]').focus()`);
  await p.press("Enter", "Enter", "\r");
  check(await open(shut) === "true", "Enter on a bond in the graph opens its card");
  checkClean(p, "bonds");
}

const near = (a, b, tolerance) => Math.abs(a - b) <= tolerance;

async function zooms(browser) {
  const p = await browser.openPage(page("crane"));
  const full = await p.evaluate(RANGE);
  check(full[0] === 0 && full[1] === 10, "the whole run at first", full);

  // the plot begins 62 px from the left and ends 10 px from the right
  const width = await p.evaluate(`document.querySelector("${SIGNAL_CANVAS}").clientWidth`);
  const share = (t) => (62 + t / 10 * (width - 72)) / width;
  await p.drag(SIGNAL_CANVAS, share(2), share(4));
  const dragged = await p.evaluate(RANGE);
  check(near(dragged[0], 2, 0.03) && near(dragged[1], 4, 0.03), "dragging zooms to what was marked", dragged);
  const bond = await p.evaluate(`Number(document.querySelector(".chart[data-bond]").dataset.hi)`);
  check(bond === dragged[1], "all plots share the time axis", bond);

  await p.wheel(SIGNAL_CANVAS, 0.5, -120);
  const wheeled = await p.evaluate(RANGE);
  check(wheeled[1] - wheeled[0] < (dragged[1] - dragged[0]) * 0.9, "the wheel zooms once the plot was clicked", wheeled);
  await p.click(SIGNAL_CANVAS, 2);
  check(JSON.stringify(await p.evaluate(RANGE)) === JSON.stringify(full), "a double click shows all again", await p.evaluate(RANGE));

  await p.evaluate(`document.querySelector("#signal-chart").focus()`);
  await p.press("+", "Equal", "+");
  const keyed = await p.evaluate(RANGE);
  check(keyed[1] - keyed[0] < 8, "plus zooms", keyed);
  await p.press("ArrowRight");
  check((await p.evaluate(`document.querySelector("#signal-chart .chart-head .num").textContent`)).startsWith("t = "), "an arrow key moves the cursor");
  await p.press("0", "Digit0", "0");
  check(JSON.stringify(await p.evaluate(RANGE)) === JSON.stringify(full), "0 shows all again");

  // without focus the wheel is left to the page
  await p.evaluate("document.activeElement.blur()");
  await p.wheel(SIGNAL_CANVAS, 0.5, -120);
  check(JSON.stringify(await p.evaluate(RANGE)) === JSON.stringify(full), "the wheel scrolls the page otherwise");
  checkClean(p, "zoom");
}

const READING = `({
  t: Number(document.querySelector("#signal-chart .chart-head .num").textContent.replace("t = ", "").replace(" s", "").replace("\\u2212", "-")),
  values: [...document.querySelectorAll("#signal-chart .key")].map((key) => [key.childNodes[1].textContent,
    Number(key.querySelector(".num").textContent.replace("\\u2212", "-")) / Number(key.closest(".pane").querySelector("canvas").dataset.factor)]),
})`;

// the cursor shows what the result file says
async function cursorReads(browser) {
  const p = await browser.openPage(page("crane"));
  const { time, column } = results("crane");
  for (const x of [0.2, 0.5, 0.83]) {
    await p.hover(SIGNAL_CANVAS, x);
    const { t, values } = await p.evaluate(READING);
    check(values.length >= 2, "the cursor reads every line", values);
    const nearest = time.reduce((best, one, i) => (Math.abs(one - t) < Math.abs(time[best] - t) ? i : best), 0);
    for (const [name, value] of values) {
      const [a, b, c] = [-1, 0, 1].map((d) => column(name)[Math.min(time.length - 1, Math.max(0, nearest + d))]);
      const isOne = [a, b, c].some((one) => near(value, one, 1e-5 * Math.abs(one)));
      check(isOne, `${name} at ${t} s is a value of the file`, [value, b]);
    }
  }
  checkClean(p, "cursor");
}

// decimated: every reading lies between the smallest and the largest recorded value nearby, and the peak is still there
async function decimates(browser) {
  const p = await browser.openPage(page("long"));
  const { time, column } = results("long");
  const note = await p.evaluate(`[...document.querySelectorAll(".hint")].map((node) => node.textContent).find((text) => text.startsWith("Decimated")) || ""`);
  check(note.includes("100\u202f001 rows"), "the page says that it is decimated, and how", note);
  const size = readFileSync(page("long")).length;
  check(size < 2e6, "below 2 MB for 1e5 rows", size);
  for (const x of [0.3, 0.61, 0.9]) {
    await p.hover(SIGNAL_CANVAS, x);
    const { t, values } = await p.evaluate(READING);
    for (const [name, value] of values) {
      const around = column(name).filter((_, i) => Math.abs(time[i] - t) < 0.1);
      const low = Math.min(...around), high = Math.max(...around), room = 1e-5 * Math.max(Math.abs(low), Math.abs(high));
      check(value >= low - room && value <= high + room, `${name} at ${t} s lies within what was recorded there`, [low, value, high]);
    }
  }
  checkClean(p, "long");
}

async function searches(browser) {
  const p = await browser.openPage(page("crane"));
  const listed = () => p.evaluate(`[...document.querySelectorAll(".picker label")].map((label) => label.dataset.signal)`);
  const all = await listed();
  await p.click(`.picker input[type="search"]`);
  await p.type("ARM theta");
  const found = await listed();
  check(all.length > 10 && found.length === 2 && found.every((name) => name.startsWith("arm.theta")), "the search narrows the list", found);
  const before = await p.evaluate(`document.querySelectorAll("#signal-chart .key").length`);
  await p.click(`.picker label[data-signal="arm.theta1"] input`);
  check(await p.evaluate(`document.querySelectorAll("#signal-chart .key").length`) === before + 1, "a tick adds a line");
  const dims = await p.evaluate(`[...document.querySelectorAll("#signal-chart .pane-head b")].map((node) => node.textContent)`);
  check(dims.includes("[rad]"), "a new dimension gets a plot of its own", dims);
  await p.type("nothing like this");
  check((await listed()).length === 0, "no match empties the list");
  checkClean(p, "search");
}

const BRIGHTNESS = `(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number); return (r + g + b) / 3; })()`;

async function themes(browser) {
  const p = await browser.openPage(page("crane"), { scheme: "dark" });
  check(await p.evaluate(BRIGHTNESS) < 60, "dark where the reader's system is", await p.evaluate(BRIGHTNESS));
  check(await p.evaluate(INK(SIGNAL_CANVAS)) > 0.001, "lines are drawn in the dark");
  await p.picture(join(pictures, "crane-dark.png"), true);
  await p.click("#theme");
  check(await p.evaluate(BRIGHTNESS) > 200, "the button turns the light on", await p.evaluate(BRIGHTNESS));
  await p.click("#theme");
  await p.click("#theme");
  check(await p.evaluate(`document.querySelector("#theme").textContent`) === "Theme: auto", "and comes back to the start after three clicks");
  checkClean(p, "themes");
}

// a phone: nothing wider than the screen, two fingers zoom
async function fitsPhones(browser) {
  for (const name of ["crane", "chain", "net30"]) {
    const p = await browser.openPage(page(name), { width: 390, height: 844, scale: 2, isTouch: true });
    const [page_, screen] = await p.evaluate("[document.documentElement.scrollWidth, innerWidth]");
    check(page_ <= screen, `${name}: no wider than the phone`, [page_, screen]);
    await p.picture(join(pictures, name + "-phone.png"), true);
    if (name === "crane") {
      const at = await p.place(SIGNAL_CANVAS);
      await p.touch("touchStart", [{ x: at.x - 30, y: at.y }, { x: at.x + 30, y: at.y }]);
      await p.touch("touchMove", [{ x: at.x - 60, y: at.y }, { x: at.x + 60, y: at.y }]);
      await p.touch("touchMove", [{ x: at.x - 90, y: at.y }, { x: at.x + 90, y: at.y }]);
      await p.touch("touchEnd", []);
      await p.settle();
      const range = await p.evaluate(RANGE);
      check(near(range[1] - range[0], 10 / 3, 0.5), "fingers three times as far apart show a third", range);
    }
    checkClean(p, name + " on a phone");
  }
}

// every box inside the picture, no two on top of each other; very large systems as a list
async function laysOutGraphs(browser) {
  for (const [name, width] of [["chain", 1280], ["net30", 1280], ["net30", 800], ["net30", 390]]) {
    const p = await browser.openPage(page(name), { width });
    const { boxes, view } = await p.evaluate(`(() => {
      const view = document.querySelector(".graph svg").viewBox.baseVal;
      return { boxes: [...document.querySelectorAll(".graph .box")].map((r) => ["x", "y", "width", "height"].map((a) => Number(r.getAttribute(a)))), view: [view.x, view.y, view.width, view.height] };
    })()`);
    check(boxes.length === (name === "chain" ? 3 : 30), `${name}: a box per unit`, boxes.length);
    const outside = boxes.filter(([x, y, w, h]) => x < view[0] || y < view[1] || x + w > view[0] + view[2] || y + h > view[1] + view[3]);
    check(outside.length === 0, `${name} at ${width} px: all boxes inside the picture`, outside);
    let n = 0;
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => { n += a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3]; }));
    check(n === 0, `${name} at ${width} px: no boxes overlap`, n);
    if (width === 1280) await p.picture(join(pictures, name + "-graph.png"));
    checkClean(p, name);
  }
  const p = await browser.openPage(page("net70"));
  check(await p.evaluate(`document.querySelectorAll("#system tbody tr").length`) === 70, "seventy units are a list");
  checkClean(p, "net70");
}

async function survivesTexts(browser) {
  const p = await browser.openPage(page("evil"));
  check((await p.evaluate(`document.querySelector("h1").textContent`)).startsWith("</script><script>alert(1)"), "a name is only a text");
  check(await p.evaluate("document.images.length") === 0, "markup in a name makes no element");
  check(await p.evaluate(`document.querySelectorAll("footer").length`) === 1, "the page is complete");
  checkClean(p, "evil");
}

async function showsFailures(browser) {
  const p = await browser.openPage(page("failed"));
  check(await p.evaluate(`document.querySelector("#verdict b").textContent`) === "failed", "a failed run says so first");
  check((await p.evaluate(`document.querySelector("#verdict span").textContent`)).length > 30, "and why");
  await p.picture(join(pictures, "failed.png"), true);
  checkClean(p, "failed");
}

async function drawsStates(browser) {
  const p = await browser.openPage(page("typed"));
  check(await p.evaluate(INK(SIGNAL_CANVAS)) > 0.0005, "integers and states are drawn");
  check((await p.evaluate(`document.querySelector("#signals").textContent`)).includes("because they are texts"), "texts are named as left out");
  checkClean(p, "typed");
}

// paper: all bonds open, light, and the screen as before afterwards
async function prints(browser) {
  const p = await browser.openPage(page("chain"), { scheme: "dark" });
  await p.evaluate(`window.addEventListener("beforeprint", () => {
    window.seen = [document.querySelectorAll(".bond-body:not([hidden])").length, document.documentElement.dataset.theme];
    window.widths = [...document.querySelectorAll("canvas")].map((canvas) => canvas.width);
    window.ink = ${INK('.bond-card:last-child canvas')};
  })`);
  const file = join(pictures, "chain.pdf");
  await p.pdf(file);
  const [seen, widths, ink] = await p.evaluate("[window.seen, window.widths, window.ink]");
  check(JSON.stringify(seen) === JSON.stringify([2, "light"]), "every bond is open and the page is light on paper", seen);
  check(widths.length === 12 && widths.every((width) => width === 1920), "plots are drawn three times as fine for paper", widths);
  check(ink > 0.001, "and are not blank", ink);
  const bytes = readFileSync(file);
  check(bytes.subarray(0, 5).toString() === "%PDF-" && bytes.length > 50000, "it can be printed", bytes.length);
  await p.settle();
  check(await p.evaluate(`document.documentElement.dataset.theme`) === "dark", "the screen is dark again afterwards");
  check(await p.evaluate(`document.querySelectorAll(".bond-body:not([hidden])").length`) === 1, "and the bonds are as before");
  checkClean(p, "print");
}

// share of the pixels of a canvas that are tinted but not opaque: an area that was filled
const AREA = (selector) => `(() => {
  const canvas = document.querySelector(${JSON.stringify(selector)});
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 3; i < data.length; i += 4) n += data[i] > 30 && data[i] < 90;
  return n / (canvas.width * canvas.height);
})()`;
const TEXT = (selector) => `(document.querySelector(${JSON.stringify(selector)}) || { textContent: "" }).textContent`;
const NAMES = `[...document.querySelectorAll("#trust tr[data-signal]")].map((row) => row.dataset.signal)`;

// the error of the worst signal first, in its own unit; then all signals, then their curves in their bands
async function leadsWithTrust(browser) {
  const p = await browser.openPage(page("trust"));
  check(await p.evaluate(TEXT("#verdict b")) === "wrong", "the verdict is that of the bands", await p.evaluate(TEXT("#verdict b")));
  const said = await p.evaluate(TEXT("#verdict span"));
  check(said === "oil.f_h is off by up to 570 N (rms 24 % of its movement).", "the error of the worst signal comes first", said);
  const order = await p.evaluate(`[...document.querySelectorAll("#main section")].map((one) => one.id)`);
  check(JSON.stringify(order.slice(0, 4)) === JSON.stringify(["trust", "signals", "system", "bonds"]), "trust, curves, system, energy", order);
  check(JSON.stringify(await p.evaluate(NAMES)) === JSON.stringify(["oil.f_h", "arm.v", "arm.s"]), "worst first", await p.evaluate(NAMES));
  const cells = await p.evaluate(`[...document.querySelectorAll('#trust tr[data-signal="arm.s"] td')].map((cell) => cell.textContent)`);
  check(JSON.stringify(cells) === JSON.stringify(["arm.s", "2.55 mm", "7.91 s", "1.25 mm", "3", "13.5 %", "doubtful"]), "one line per signal", cells);
  check((await p.evaluate(TEXT("#trust"))).includes("Compared with: half the steps; interpolated inputs at half the step"), "what it was compared with");
  check(await p.evaluate(`document.querySelectorAll("#trust .loops").length`) === 0, "one loop is not listed");
  const titles = await p.evaluate(`[...document.querySelectorAll("#signal-chart .pane-head b")].map((node) => node.textContent)`);
  check(titles.includes("[mm]"), "a piston that moves by millimetres is drawn in millimetres", titles);
  check(await p.evaluate(`[...document.querySelectorAll("#signal-chart .key-band")].every((one) => one.textContent === "error band")`), "the bands are named");
  for (let i = 1; i <= 3; i++) {
    const area = await p.evaluate(AREA(`#signal-chart .pane:nth-child(${i}) canvas`));
    check(area > 0.01 && area < 0.6, `band ${i} is drawn`, area);
  }
  // the ledger explains and has no word of its own
  check(await p.evaluate(`document.querySelectorAll(".bond-card .bond-head .chip").length`) === 0, "no verdict on the energy of a bond");
  check(await p.evaluate(`document.querySelector('.graph .bond[data-bond="piston"]').classList.contains("v-wrong")`), "the bond has the verdict of its loop");
  const meanings = await p.evaluate(`[...document.querySelectorAll(".bond-body .meaning")].map((one) => one.textContent.slice(0, 5))`);
  check(meanings.length === 3 && await p.evaluate(`document.querySelector(".bond-body").textContent.includes("TER")`), "TER, rho and eps are explained", meanings);
  check(!(await p.evaluate(TEXT("#bonds"))).includes("Try:"), "no advice");
  await p.hover(SIGNAL_CANVAS, 0.5);
  check((await p.evaluate(TEXT("#signal-chart .range"))).startsWith("\u00b1 "), "the cursor reads the band", await p.evaluate(TEXT("#signal-chart .range")));
  await p.picture(join(pictures, "trust-light.png"), true);

  // a signal of the table is drawn alone, by mouse and keyboard
  await p.click(`#trust tr[data-signal="arm.v"] button`);
  const keys = () => p.evaluate(`[...document.querySelectorAll("#signal-chart .key")].map((key) => key.childNodes[1].textContent)`);
  check(JSON.stringify(await keys()) === JSON.stringify(["arm.v"]), "a click on a signal shows its curve", await keys());
  await p.evaluate(`document.querySelector('#trust tr[data-signal="arm.s"] button').focus()`);
  await p.press("Enter", "Enter", "\r");
  check(JSON.stringify(await keys()) === JSON.stringify(["arm.s"]), "and so does Enter", await keys());
  checkClean(p, "trust");
  // docs/figures/report.png
  const figure = await browser.openPage(page("tabs"), { width: 1060, height: 930 });
  await figure.picture(join(pictures, "report.png"));
  const night = await browser.openPage(page("trust"), { scheme: "dark" });
  check(await night.evaluate(AREA(SIGNAL_CANVAS)) > 0.01, "the band is drawn in the dark");
  await night.picture(join(pictures, "trust-dark.png"), true);
  const phone = await browser.openPage(page("trust"), { width: 390, height: 844, scale: 2, isTouch: true });
  const [wide, screen] = await phone.evaluate("[document.documentElement.scrollWidth, innerWidth]");
  check(wide <= screen, "trust: no wider than the phone", [wide, screen]);
  await phone.picture(join(pictures, "trust-phone.png"), true);
  checkClean(phone, "trust on a phone");
}

async function saysWhatIsMissing(browser) {
  const old = await browser.openPage(page("old"));
  check(await old.evaluate(TEXT("#verdict b")) === "not judged", "what the ledger does not find says nothing");
  check((await old.evaluate(TEXT("#verdict span"))).startsWith("This result has no error bands"), "a result without bands says so", await old.evaluate(TEXT("#verdict")));
  check((await old.evaluate(TEXT("#verdict code"))).endsWith(" --trust both"), "and names the command", await old.evaluate(TEXT("#verdict code")));
  check(await old.evaluate(`document.querySelectorAll("#trust").length`) === 0, "without an empty table");
  checkClean(old, "old");
  const bad = await browser.openPage(page("old-bad"));
  check(await bad.evaluate(TEXT("#verdict b")) === "wrong", "what the ledger finds counts");
  check((await bad.evaluate(TEXT("#verdict"))).includes("The energy ledger: Bond 'piston': the coupling is unstable."), "and is told as such");
  checkClean(bad, "old-bad");
  let p = await browser.openPage(page("unjudged"));
  check(await p.evaluate(TEXT("#verdict b")) === "not judged", "no companion: not judged");
  check(await p.evaluate(TEXT("#verdict code")) === "yoke run 'a b.yaml' --quiet --trust both", "the command is that of the run", await p.evaluate(TEXT("#verdict code")));
  check((await p.evaluate(TEXT("#trust"))).includes("Left out: both companions"), "what was left out");
  check(await p.evaluate(`document.querySelectorAll("#signal-chart .key-band").length`) === 0, "no band, no legend of it");
  checkClean(p, "unjudged");
  p = await browser.openPage(page("zero"));
  check(await p.evaluate(TEXT("#verdict b")) === "not judged", "no signals: not judged");
  check((await p.evaluate(TEXT("#trust"))).includes("nothing to judge"), "and nothing to list");
  checkClean(p, "zero");
  p = await browser.openPage(page("diverged"));
  check(await p.evaluate(TEXT("#verdict b")) === "diverged", "a diverged run says so first");
  check(await p.evaluate(TEXT("#verdict span")) === "arm.v grew 1.4e25 times between 2.5 s and 4.25 s.", "which signal, how much, when", await p.evaluate(TEXT("#verdict span")));
  check((await p.evaluate(NAMES))[0] === "arm.v", "and it stands first in the table");
  checkClean(p, "diverged");
  p = await browser.openPage(page("loops"));
  check(await p.evaluate(`document.querySelectorAll("#trust .loops tbody tr").length`) === 2, "two loops are listed");
  check(await p.evaluate(TEXT("#verdict span")) === "arm.s may be off by up to 2.6 mm (rms 14 % of its movement).", "the signal that decides leads", await p.evaluate(TEXT("#verdict span")));
  check((await p.evaluate(TEXT("#verdict p"))) === "Half the step agrees, another method does not: a fast signal may be sampled too slowly (aliasing).", "what the reason says beyond the size", await p.evaluate(TEXT("#verdict p")));
  check((await p.evaluate(NAMES))[0] === "arm.s" && (await p.evaluate(TEXT("#trust"))).includes("does not decide"), "the others are marked");
  check((await p.evaluate(TEXT("#trust"))).includes("Not used: interpolated inputs at half the step, diverged: its growth alarm"), "a companion that was not usable, and why");
  checkClean(p, "loops");
}

async function survivesOddTrust(browser) {
  let p = await browser.openPage(page("hostile"));
  check((await p.evaluate(NAMES))[0].startsWith("</script><script>alert(1)"), "a signal's name is only a text");
  check(await p.evaluate("document.images.length") === 0 && await p.evaluate(`document.querySelectorAll("#main b b, #trust td b").length`) === 0, "markup in texts makes no element");
  await p.click("#trust tbody tr button");
  check((await p.evaluate(TEXT("#signal-chart .key"))).startsWith("</script>"), "and it can be drawn");
  check(await p.evaluate(`document.querySelectorAll("footer").length`) === 1, "hostile: the page is complete");
  checkClean(p, "hostile");
  p = await browser.openPage(page("nulls"));
  check(await p.evaluate(TEXT("#verdict b")) === "doubtful", "nulls: a verdict");
  check((await p.evaluate(NAMES)).length === 4, "nulls: what is no signal is left out", await p.evaluate(NAMES));
  // the flags of the compiler are on the page too, and -fsanitize=undefined is no number
  const words = (await p.evaluate(`document.querySelector("#main").innerText`)).replace(/-fsanitize=\S+/g, "");
  check(!/NaN|undefined|null|Infinity/.test(words), "nulls: no number that is none", words.match(/.{30}(NaN|undefined|null|Infinity).{30}/s));
  check(await p.evaluate(`document.querySelectorAll("footer").length`) === 1, "nulls: the page is complete");
  checkClean(p, "nulls");
  p = await browser.openPage(page("many"));
  check((await p.evaluate(NAMES)).length === 12, "of many signals the worst are listed");
  check((await p.evaluate(NAMES))[0] === "unit_1999.y", "many: worst first");
  await p.click("#trust .more button");
  check((await p.evaluate(NAMES)).length === 2000, "and all on request");
  // thinned for the page, the band still holds its peak of ten times the rest
  await p.click(`#trust tr[data-signal="unit_1999.y"] button`);
  const width = await p.evaluate(`document.querySelector("${SIGNAL_CANVAS}").clientWidth`);
  await p.hover(SIGNAL_CANVAS, (62 + 1.01 / 2 * (width - 72)) / width);
  check((await p.evaluate(TEXT("#signal-chart .range"))) === "\u00b1 0.02", "many: a peak of the band survives", await p.evaluate(TEXT("#signal-chart .range")));
  const size = readFileSync(page("many")).length;
  check(size < 6.5e6, "many: the page stays small", size);
  checkClean(p, "many");
}

// a reference beside the curves, and a second run in a tab of its own
async function comparesRuns(browser) {
  const p = await browser.openPage(page("tabs"));
  const note = await p.evaluate(`[...document.querySelectorAll("#signal-chart .true-error")].map((one) => one.textContent)`);
  check(note.includes("true error 1.97 mm, band 2.55 mm"), "the true error stands against the band", note);
  check((await p.evaluate(TEXT("#trust .reference"))).includes("All 3 signals lie within their bands."), "and so for all", await p.evaluate(TEXT("#trust .reference")));
  check((await p.evaluate(`[...document.querySelectorAll("#signal-chart .key")].map((key) => key.childNodes[1].textContent)`)).includes("arm.s, reference"), "the reference is named");
  const { time, column } = results("tabs");
  await p.hover(SIGNAL_CANVAS, 0.8);
  const { t, values } = await p.evaluate(READING);
  const reference = new Map(values).get("arm.s, reference"), own = column("arm.s")[time.findIndex((x) => x >= t)];
  check(Math.abs(reference - own) > 1e-5 && Math.abs(reference - own) < 0.00255, "the cursor reads the reference too", [reference, own]);
  const shown = () => p.evaluate(`[...document.querySelectorAll(".tab")].map((tab) => !tab.hidden)`);
  check(JSON.stringify(await shown()) === "[true,false]", "this run at first", await shown());
  check(await p.evaluate(`document.querySelectorAll("#run-before *").length`) === 0, "the other is drawn when it is wanted");
  await p.picture(join(pictures, "tabs.png"));
  await p.click("#tab-before");
  check(JSON.stringify(await shown()) === "[false,true]", "a click shows the run before", await shown());
  check((await p.evaluate(TEXT("#run-before .about"))).includes("steps of 5 ms"), "which is another run", await p.evaluate(TEXT("#run-before .about")));
  check(await p.evaluate(INK("#signal-chart-before canvas")) > 0.001, "with curves of its own");
  check((await p.evaluate("document.title")).endsWith("(before)"), "and a title of its own");
  check(await p.evaluate(`new Set([...document.querySelectorAll("[id]")].map((one) => one.id)).size === document.querySelectorAll("[id]").length`), "no id stands twice");
  await p.evaluate(`document.querySelector("#tab-before").focus()`);
  await p.press("ArrowLeft");
  check(JSON.stringify(await shown()) === "[true,false]" && await p.evaluate("document.activeElement.id") === "tab", "arrow keys change the tab", await shown());
  checkClean(p, "tabs");
  const phone = await browser.openPage(page("tabs"), { width: 390, height: 844, scale: 2, isTouch: true });
  const [wide, screen] = await phone.evaluate("[document.documentElement.scrollWidth, innerWidth]");
  check(wide <= screen, "tabs: no wider than the phone", [wide, screen]);
  await phone.click("#tab-before");
  await phone.picture(join(pictures, "tabs-phone.png"));
  await phone.pdf(join(pictures, "tabs.pdf"));
  checkClean(phone, "tabs on a phone");
}

const browser = await openBrowser(program);
try {
  for (const test of [looksRight, bondsOpen, zooms, cursorReads, decimates, searches, themes, fitsPhones, laysOutGraphs, survivesTexts, showsFailures, drawsStates, prints, leadsWithTrust, saysWhatIsMissing, survivesOddTrust, comparesRuns]) {
    await test(browser).catch((error) => check(false, test.name, error.message));
  }
} finally {
  await browser.close();
}
console.log(`${nPassed} passed, ${nFailed} failed`);
process.exit(nFailed === 0 ? 0 : 1);
