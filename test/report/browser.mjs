// Headless Chromium over its debugging pipe, with nothing but Node: open a page from a file, evaluate, press, take pictures.
// Everything the page reports as an error is collected in `problems`.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TIMEOUT_MS = 60000;

export async function openBrowser(program) {
  const profile = mkdtempSync(join(tmpdir(), "yoke-browser-"));
  const child = spawn(program, ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions", "--hide-scrollbars", "--user-data-dir=" + profile, "about:blank"],
  { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
  const waiting = new Map();
  const listeners = [];
  let errors = "", rest = "", id = 0;
  child.stderr.on("data", (bytes) => { errors = (errors + bytes).slice(-4000); });
  child.on("exit", (code) => {
    for (const { fail } of waiting.values()) fail(new Error(`the browser ended with status ${code}:\n${errors}`));
    waiting.clear();
  });
  child.stdio[4].on("data", (bytes) => {
    rest += bytes;
    for (let end = rest.indexOf("\0"); end >= 0; end = rest.indexOf("\0")) {
      take(JSON.parse(rest.slice(0, end)));
      rest = rest.slice(end + 1);
    }
  });
  function take(message) {
    const call = waiting.get(message.id);
    if (call === undefined) {
      for (const listener of listeners) listener(message);
      return;
    }
    waiting.delete(message.id);
    if (message.error) call.fail(new Error(`${call.method}: ${message.error.message}`));
    else call.done(message.result);
  }
  function send(method, params = {}, sessionId) {
    id++;
    const number = id;
    child.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + "\0");
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(method + " did not answer:\n" + errors)), TIMEOUT_MS);
      timer.unref();
      waiting.set(number, { method, done, fail });
    });
  }
  async function close() {
    await send("Browser.close").catch(() => {});
    if (child.exitCode === null && child.signalCode === null) await Promise.race([new Promise((done) => child.once("exit", done)), sleep(5000)]);
    child.kill("SIGKILL");
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
  return { send, listeners, close, openPage: (path, options) => openPage({ send, listeners }, path, options) };
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// A file in a window of its own. options: width, height, scale, scheme ("light" or "dark"), isTouch.
async function openPage(browser, path, { width = 1280, height = 900, scale = 1, scheme = "light", isTouch = false } = {}) {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const problems = [];
  const requests = [];
  let whenLoaded = () => {};
  browser.listeners.push((message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === "Runtime.exceptionThrown") problems.push("exception: " + (params.exceptionDetails.exception?.description || params.exceptionDetails.text));
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) problems.push("console: " + params.args.map((a) => a.value ?? a.description).join(" "));
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) problems.push("log: " + params.entry.text);
    if (method === "Page.javascriptDialogOpening") {
      problems.push("dialog: " + params.message);
      send("Page.handleJavaScriptDialog", { accept: true });
    }
    if (method === "Network.requestWillBeSent") requests.push(params.request.url);
    if (method === "Page.loadEventFired") whenLoaded();
  });
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(domain + ".enable");
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: isTouch });
  if (isTouch) await send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  const loaded = new Promise((done) => { whenLoaded = done; });
  await send("Page.navigate", { url: "file://" + encodeURI(path) });
  await loaded;

  // the value of an expression in the page
  async function evaluate(expression) {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}\n${exceptionDetails.exception?.description || exceptionDetails.text}`);
    return result.value;
  }
  // two frames: what was asked for has been drawn
  const settle = () => evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");

  // the middle of an element, or a point of it given as shares of its size, scrolled into sight
  async function place(selector, x = 0.5, y = 0.5) {
    const box = await evaluate(`(() => {
      const node = document.querySelector(${JSON.stringify(selector)});
      if (!node) return null;
      document.documentElement.style.scrollBehavior = "auto";
      node.scrollIntoView({ block: "center" });
      const r = node.getBoundingClientRect();
      return [r.left + r.width * ${x}, r.top + r.height * ${y}];
    })()`);
    if (box === null) throw new Error("there is no " + selector);
    return { x: box[0], y: box[1] };
  }
  const mouse = (type, at, extra = {}) => send("Input.dispatchMouseEvent", { type, x: at.x, y: at.y, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1, ...extra });
  async function click(selector, count = 1) {
    const at = await place(selector);
    for (let i = 1; i <= count; i++) {
      await mouse("mousePressed", at, { clickCount: i });
      await mouse("mouseReleased", at, { clickCount: i });
    }
    await settle();
  }
  async function drag(selector, from, to) {
    const a = await place(selector, from), b = await place(selector, to);
    await mouse("mousePressed", a);
    await mouse("mouseMoved", { x: (a.x + b.x) / 2, y: a.y });
    await mouse("mouseMoved", b);
    await mouse("mouseReleased", b);
    await settle();
  }
  async function hover(selector, x) {
    await mouse("mouseMoved", await place(selector, x), { button: "none", buttons: 0 });
    await settle();
  }
  async function wheel(selector, x, deltaY) {
    await mouse("mouseWheel", await place(selector, x), { button: "none", buttons: 0, deltaX: 0, deltaY });
    await settle();
  }
  async function touch(type, points) {
    await send("Input.dispatchTouchEvent", { type, touchPoints: points.map((p, i) => ({ x: p.x, y: p.y, id: i })) });
  }
  async function press(key, code = key, text) {
    await send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, code, text, windowsVirtualKeyCode: key === "Enter" ? 13 : 0 });
    await send("Input.dispatchKeyEvent", { type: "keyUp", key, code });
    await settle();
  }
  async function type(text) {
    await send("Input.insertText", { text });
    await settle();
  }
  async function picture(file, isWhole = false) {
    await settle();
    const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: isWhole, ...(isWhole ? { clip: { x: 0, y: 0, width, height: await evaluate("document.documentElement.scrollHeight"), scale: 1 } } : {}) });
    writeFileSync(file, Buffer.from(data, "base64"));
  }
  async function pdf(file) {
    const { data } = await send("Page.printToPDF", { printBackground: true, preferCSSPageSize: false, paperWidth: 8.27, paperHeight: 11.69 });
    writeFileSync(file, Buffer.from(data, "base64"));
  }
  return { send, evaluate, settle, place, click, drag, hover, wheel, touch, press, type, picture, pdf, problems, requests };
}
