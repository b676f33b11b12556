//===- ReportPage.cpp - the HTML report's page -------------------------------===//
//
// See ReportPage.h. No external resource, no library. The page draws on canvases that follow the zoom of the timeline;
// everything it says can be read from the tables as well.
//
//===----------------------------------------------------------------------===//
#include "runtime/profile/ReportPage.h"

namespace trn::rt {

const char *const kReportPage = R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>trn-mlir profile</title>
<style>
:root { color-scheme: light dark; --bg: #ffffff; --panel: #f6f7f9; --line: #d8dce2; --text: #1b2129; --soft: #5c6673;
  --accent: #2f6fde; --warn: #c2570c; --ok: #1f8a4c; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --bg: #14171c; --panel: #1c2027; --line: #333a45;
  --text: #e5e9ef; --soft: #98a3b1; --accent: #6ea2ff; --warn: #f0924a; --ok: #5cc98a; } }
:root[data-theme=dark] { --bg: #14171c; --panel: #1c2027; --line: #333a45; --text: #e5e9ef; --soft: #98a3b1;
  --accent: #6ea2ff; --warn: #f0924a; --ok: #5cc98a; color-scheme: dark; }
:root[data-theme=light] { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 20px 24px 60px; max-width: 1500px; background: var(--bg); color: var(--text);
  font: 14px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 15px; margin: 28px 0 8px; }
header { display: flex; align-items: baseline; gap: 12px; flex-wrap: wrap; }
header .spring { flex: 1; }
.soft { color: var(--soft); }
button, input { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  padding: 3px 10px; } button { cursor: pointer; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(146px, 1fr)); gap: 10px; margin-top: 14px; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 10px 12px; }
.card b { display: block; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 12px; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 10px; position: relative; overflow-x: auto; }
canvas { display: block; width: 100%; }
#timeline { cursor: grab; touch-action: none; }
#tip { position: fixed; pointer-events: none; display: none; background: var(--bg); border: 1px solid var(--line);
  border-radius: 6px; padding: 6px 9px; font-size: 12px; max-width: 420px; z-index: 9; box-shadow: 0 2px 10px #0004; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 16px; }
.two > div { min-width: 0; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 3px 8px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { cursor: pointer; position: sticky; top: 0; background: var(--panel); color: var(--soft); font-weight: 600; }
th.left, td.left { text-align: left; } td.left { max-width: 340px; overflow: hidden; text-overflow: ellipsis; }
th[aria-sort=descending]::after { content: " \2193"; } th[aria-sort=ascending]::after { content: " \2191"; }
tbody tr:hover { background: color-mix(in srgb, var(--accent) 10%, transparent); }
.scroll { max-height: 520px; overflow: auto; }
.bar { display: inline-block; height: 9px; border-radius: 2px; background: var(--accent); vertical-align: middle; }
.bar.top { background: var(--warn); }
</style>
</head>
<body>
<header>
  <h1>Profile</h1><span id="title" class="soft"></span><span class="spring"></span>
  <button id="theme" title="light or dark">theme</button>
</header>
<div class="cards" id="cards"></div>

<h2>Timeline <span class="soft" style="font-weight:400">wheel: zoom, drag: move, double click: all</span></h2>
<div class="panel">
  <canvas id="timeline" height="10"></canvas>
  <canvas id="memory" height="110"></canvas>
</div>

<div class="two">
  <div><h2>Limit</h2><div class="panel"><table id="limits"></table><p class="soft" id="limitText"></p></div>
  <h2>Engines</h2><div class="panel scroll"><table id="engines"></table></div></div>
  <div><h2>Roofline</h2><div class="panel"><canvas id="roof" height="330"></canvas></div>
  <h2>Critical path</h2><div class="panel scroll"><table id="path"></table></div></div>
</div>

<h2>Nodes <input id="filter" placeholder="filter" aria-label="filter nodes"></h2>
<div class="panel scroll"><table id="nodes"></table></div>

<h2>Summary</h2>
<div class="panel scroll"><table id="summary"></table></div>
<h2>Build</h2>
<div class="panel scroll"><table id="build"></table></div>
<div id="tip"></div>
<script>
"use strict";
const D = /*DATA*/null;
const $ = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const S = Object.fromEntries(D.summary.map(m => [m[0], m[1]]));
const esc = s => String(s).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}[c]));

function time(seconds) {
  const a = Math.abs(seconds);
  if (a === 0) return "0";
  if (a < 1e-6) return (seconds * 1e9).toFixed(1) + " ns";
  if (a < 1e-3) return (seconds * 1e6).toFixed(a < 1e-5 ? 2 : 1) + " µs";
  return a < 1 ? (seconds * 1e3).toFixed(2) + " ms" : seconds.toFixed(3) + " s";
}
function big(value, unit) {
  const steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [f, p] of steps) if (Math.abs(value) >= f) return (value / f).toFixed(2) + " " + p + unit;
  return (Number.isInteger(value) ? value : value.toFixed(2)) + (unit ? " " + unit : "");
}
const pct = v => v.toFixed(1) + " %";

$("title").textContent = D.deviceTitle + " (" + D.device + "), modelled time" + (D.assumptions ? "; assumed: " + D.assumptions : "");
$("cards").innerHTML = [
  [time(S.total_time), "time of the run (without " + time(S.launch_overhead_time) + " launch)"],
  [pct(D.limit.percent), "of the physical limit: " + time(D.limit.time) + ", set by " + D.limit.by],
  [pct(S.mfu_estimated_percent), "MFU, model flops against the peak"],
  [pct(S.mbu_estimated_percent), "MBU, HBM bytes against the core's share"],
  [pct(S.tensor_engine_active_time_percent), "Tensor engine active"],
  [pct(S.dma_active_time_percent), "DMA active"],
  [big(S.hbm_read_bytes + S.hbm_write_bytes, "B"), "HBM traffic, weights " + big(S.weight_size_bytes, "B")],
  [pct(100 * D.memory.sbufPeak / D.memory.sbufCapacity), "of SBUF live at the peak"],
].map(c => `<div class="card"><b>${esc(c[0])}</b><span>${esc(c[1])}</span></div>`).join("");

// ---- tables
function table(id, heads, rows, sortColumn) {
  const element = $(id);
  let column = sortColumn, down = true, filter = "";
  function draw() {
    let list = rows.filter(r => !filter || r.some(c => typeof c.v === "string" && c.v.toLowerCase().includes(filter)));
    if (column !== undefined)
      list = list.slice().sort((a, b) => {
        const x = a[column].v, y = b[column].v;
        const order = typeof x === "string" ? x.localeCompare(y) : x - y;
        return down ? -order : order;
      });
    const head = heads.map((h, i) => `<th scope="col" class="${h.left ? "left" : ""}"` +
      (i === column ? ` aria-sort="${down ? "descending" : "ascending"}"` : "") + ` title="${esc(h.tip || "")}">${esc(h.name)}</th>`);
    element.innerHTML = "<thead><tr>" + head.join("") + "</tr></thead><tbody>" + list.map(r => "<tr>" + r.map((c, i) =>
      `<td class="${heads[i].left ? "left" : ""}" title="${esc(c.tip || (heads[i].left ? c.v : ""))}">${c.html || esc(c.t === undefined ? c.v : c.t)}</td>`).join("") +
      "</tr>").join("") + "</tbody>";
    element.querySelectorAll("th").forEach((th, i) => th.onclick = () => {
      down = i === column ? !down : !heads[i].left;
      column = i;
      draw();
    });
  }
  draw();
  return text => { filter = text.toLowerCase(); draw(); };
}
const T = v => ({v: v, t: time(v)});
const longest = Math.max(...D.limit.terms.map(t => t[1]), 1e-15);
table("limits", [{name: "term", left: true}, {name: "at least"}, {name: "of the run"}, {name: "", left: true}],
  D.limit.terms.map(t => [{v: t[0], tip: t[2]}, T(t[1]), {v: t[1] / S.total_time, t: pct(100 * t[1] / S.total_time)},
    {v: t[2], html: `<span class="bar ${t[0] === D.limit.by ? "top" : ""}" style="width:${(180 * t[1] / longest).toFixed(0)}px" title="${esc(t[2])}"></span>`}]));
$("limitText").textContent = "The limit is the largest term: no schedule on this device is faster. Algorithmic work from " +
  D.limit.macsFrom + ". With the program's own tiles and sustained DMA: " + time(D.limit.practicalTime) + ", of which the run reaches " +
  pct(D.limit.practicalPercent) + ".";
table("engines", [{name: "engine", left: true}, {name: "instructions"}, {name: "active", tip: "at least one instruction between start and completion"},
  {name: "busy", tip: "could not start another"}, {name: "sem.", tip: "waited for semaphores"},
  {name: "dep.", tip: "waited for its own results"}, {name: "port", tip: "waited for a shared port"},
  {name: "load", tip: "waited for weights to enter the array"}, {name: "idle", tip: "after its last instruction"}],
  D.engines.map(e => [{v: e[0]}, {v: e[1]}, ...e.slice(2).map(T)]));
const longestPath = Math.max(...D.path.map(p => p[2]), 1e-15);
table("path", [{name: "what", left: true}, {name: "engine", left: true}, {name: "time"}, {name: "of the run"}, {name: "", left: true}],
  D.path.map(p => [{v: p[0]}, {v: p[1]}, T(p[2]), {v: p[2], t: pct(100 * p[2] / S.total_time)},
    {v: p[2], tip: " ", html: `<span class="bar" style="width:${(160 * p[2] / longestPath).toFixed(0)}px"></span>`}]));
const engineNames = D.engines.map(e => e[0]);
const setFilter = table("nodes", [{name: "node", left: true}, {name: "operator", left: true}, {name: "instr."}, {name: "begin"},
  {name: "span"}, ...engineNames.map(n => ({name: n, tip: "busy time of " + n})), {name: "DMA"}, {name: "bytes"}, {name: "flops"},
  {name: "stalled", tip: "waiting of its instructions"}, {name: "critical", tip: "its pieces of the critical path"}],
  D.nodes.map(n => [{v: n[0] || "(none)"}, {v: n[1]}, {v: n[2]}, T(n[3]), T(n[4] - n[3]), ...n.slice(5, 11).map(T),
    {v: n[11], t: big(n[11], "B")}, {v: n[12], t: big(n[12], "")}, T(n[13]), T(n[14])]), 14);
$("filter").oninput = e => setFilter(e.target.value);
table("summary", [{name: "field", left: true}, {name: "value"}, {name: "meaning", left: true}],
  D.summary.map(m => [{v: m[0]}, {v: m[1], t: m[2] ? m[1].toLocaleString("en") : /_percent$/.test(m[0]) ? pct(m[1]) :
    /time$/.test(m[0]) ? time(m[1]) : m[1].toPrecision(6)}, {v: m[3]}]));
table("build", [{name: "fact", left: true}, {name: "value", left: true}], D.build.map(b => [{v: b[0]}, {v: b[1]}]));

// ---- canvases
function setup(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = height + "px";
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  return [g, width];
}
const LEFT = 62, ROW = 24, TOP = 20;
let from = 0, to = D.end || 1;
const nodeColors = D.nodeNames.map((name, i) => {
  if (!name) return null;
  return (i * 137.508 + 20) % 360; // golden angle: neighbours differ
});
const isDark = () => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0) < 384;
function color(node, dark) {
  const hue = nodeColors[node];
  return hue === null ? (dark ? "#6b7480" : "#a3abb5") : `hsl(${hue.toFixed(0)} ${dark ? "48% 58%" : "55% 55%"})`;
}
const xOf = (t, width) => LEFT + (t - from) / (to - from) * (width - LEFT - 6);
function axis(g, width, height) {
  const span = to - from, step0 = span / Math.max(2, width / 130);
  const power = Math.pow(10, Math.floor(Math.log10(step0)));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= step0) || power * 10;
  g.strokeStyle = css("--line");
  g.fillStyle = css("--soft");
  g.lineWidth = 1;
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    const x = Math.round(xOf(t, width)) + .5;
    g.beginPath(); g.moveTo(x, 14); g.lineTo(x, height); g.stroke();
    const text = time(t / 1e12);
    if (x + 3 + g.measureText(text).width <= width) g.fillText(text, x + 3, 11);
  }
}
// The first bar that can still reach the left border: bars of a track are sorted by begin.
function firstBar(bars, t, longestBar) {
  let low = 0, high = bars.length / 6;
  while (low < high) { const m = (low + high) >> 1; if (bars[6 * m] < t - longestBar) low = m + 1; else high = m; }
  return low;
}
for (const track of D.tracks) {
  track.longest = 0;
  for (let i = 1; i < track.bars.length; i += 6) track.longest = Math.max(track.longest, track.bars[i]);
}
function drawTimeline() {
  const height = TOP + D.tracks.length * ROW + 4;
  const [g, width] = setup($("timeline"), height);
  const dark = isDark();
  axis(g, width, height);
  g.save();
  g.beginPath(); g.rect(LEFT, 0, width - LEFT, height); g.clip();
  D.tracks.forEach((track, row) => {
    const y = TOP + row * ROW, bars = track.bars;
    if (track.name === "PE") {
      g.fillStyle = dark ? "#f0924a30" : "#f0924a40";
      for (let i = 0; i < D.half.length; i += 2) {
        const a = xOf(D.half[i], width), b = xOf(D.half[i + 1], width);
        g.fillRect(a, y - 1, Math.max(b - a, .5), ROW - 2);
      }
    }
    let last = -1;
    for (let k = firstBar(bars, from, track.longest); k < bars.length / 6; ++k) {
      const i = 6 * k, begin = bars[i];
      if (begin > to) break;
      const a = xOf(begin, width), b = xOf(begin + bars[i + 1], width);
      if (b < LEFT || b - last < .25) continue;
      last = b;
      g.fillStyle = color(bars[i + 2], dark);
      const w = Math.max(b - a, .6);
      g.fillRect(a, y + 1, w > 3 ? w - .6 : w, ROW - 6);
      if (w > 46) {
        g.fillStyle = dark ? "#0c0e12" : "#ffffff";
        const label = D.nodeNames[bars[i + 2]] || D.kinds[bars[i + 3]];
        g.fillText(label.length * 6 > w - 6 ? label.slice(0, Math.floor((w - 8) / 6)) : label, a + 4, y + 13);
      }
    }
  });
  g.restore();
  g.fillStyle = css("--text");
  D.tracks.forEach((track, row) => g.fillText(track.name, 4, TOP + row * ROW + 13));
}
function drawMemory() {
  const height = 110, [g, width] = setup($("memory"), height), points = D.memory.points;
  const top = 22, bottom = height - 6;
  const curve = (index, capacity, style) => {
    g.strokeStyle = style; g.lineWidth = 1.4; g.beginPath();
    let y = bottom;
    g.moveTo(LEFT, y);
    for (const p of points) {
      const x = Math.min(Math.max(xOf(p[0], width), LEFT), width - 6);
      g.lineTo(x, y);
      y = bottom - (bottom - top) * p[index] / capacity;
      g.lineTo(x, y);
    }
    g.lineTo(width - 6, y); g.stroke();
  };
  axis(g, width, height);
  curve(1, D.memory.sbufCapacity, css("--accent"));
  curve(2, D.memory.psumCapacity, css("--warn"));
  g.fillStyle = css("--accent"); g.fillText("SBUF", 4, 34);
  g.fillStyle = css("--warn"); g.fillText("PSUM", 4, 50);
  g.fillStyle = css("--soft"); g.fillText("live, % of", 4, 70); g.fillText("capacity", 4, 83);
  g.fillText("100", LEFT - 22, top + 4); g.fillText("0", LEFT - 10, bottom);
}
function drawRoof() {
  const height = 330, [g, width] = setup($("roof"), height);
  const peak = S.peak_flops_bandwidth_ratio; // in units of the bandwidth: y = flops / (bytes per second)
  const bandwidth = S.hbm_read_bytes + S.hbm_write_bytes > 0 && S.mbu_estimated_percent > 0 ?
    (S.hbm_read_bytes + S.hbm_write_bytes) / S.total_time / (S.mbu_estimated_percent / 100) : 1;
  const points = [];
  if (S.mm_arithmetic_intensity > 0)
    points.push({x: S.mm_arithmetic_intensity, y: S.model_flops / S.total_time / bandwidth, name: "whole run", main: true});
  D.nodes.forEach(n => {
    if (n[12] > 0 && n[11] > 0 && n[4] > n[3])
      points.push({x: n[12] / n[11], y: n[12] / (n[4] - n[3]) / bandwidth, name: n[0] || "(none)"});
  });
  const xs = points.map(p => p.x).concat([peak / 30, peak * 10]), ys = points.map(p => p.y).concat([peak * 1.6, peak / 200]);
  const x0 = Math.log10(Math.min(...xs)) - .1, x1 = Math.log10(Math.max(...xs)) + .1;
  const y0 = Math.log10(Math.max(Math.min(...ys), peak / 1e6)), y1 = Math.log10(Math.max(...ys));
  const L = 64, B = height - 34, R = width - 12, U = 12;
  const X = v => L + (Math.log10(v) - x0) / (x1 - x0) * (R - L), Y = v => B - (Math.log10(v) - y0) / (y1 - y0) * (B - U);
  const yOf = p => Math.min(Y(p.y), B);
  g.strokeStyle = css("--line"); g.fillStyle = css("--soft"); g.lineWidth = 1;
  for (let d = Math.ceil(x0); d <= x1; ++d) {
    g.beginPath(); g.moveTo(X(10 ** d), U); g.lineTo(X(10 ** d), B); g.stroke(); g.fillText(String(10 ** d), X(10 ** d) - 8, B + 14);
  }
  for (let d = Math.ceil(y0 + Math.log10(bandwidth)); d <= y1 + Math.log10(bandwidth); ++d) {
    const y = Y(10 ** d / bandwidth);
    g.beginPath(); g.moveTo(L, y); g.lineTo(R, y); g.stroke(); g.fillText(big(10 ** d, "F/s").replace(".00", ""), 2, y + 4);
  }
  g.fillText("model flops per byte moved from or to HBM", (L + R) / 2 - 110, height - 4);
  g.strokeStyle = css("--text"); g.lineWidth = 2; g.beginPath();
  const foot = 10 ** Math.max(x0, y0); // where the slope, on which y is x, comes into the picture
  g.moveTo(X(foot), Y(foot)); g.lineTo(X(peak), Y(peak)); g.lineTo(R, Y(peak)); g.stroke();
  for (const p of points) {
    g.fillStyle = p.main ? css("--warn") : css("--accent");
    g.globalAlpha = p.main ? 1 : .55;
    const x = X(p.x), y = yOf(p);
    g.beginPath();
    if (y < Y(p.y)) { g.moveTo(x - 4, y - 7); g.lineTo(x + 4, y - 7); g.lineTo(x, y); } // lower than the axis goes
    else g.arc(x, y, p.main ? 6 : 3.5, 0, 7);
    g.fill();
    g.globalAlpha = 1;
    if (p.main) { g.fillStyle = css("--text"); g.fillText(p.name, x + 9, y + 4); }
  }
  $("roof").points = points.map(p => ({x: X(p.x), y: yOf(p), p: p, flops: p.y * bandwidth}));
}
let queued = false;
function draw(all) {
  draw.all = draw.all || all;
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    drawTimeline(); drawMemory();
    if (draw.all) drawRoof();
    draw.all = false;
  });
}

// ---- interaction
const tip = $("tip");
function showTip(event, html) {
  tip.innerHTML = html;
  tip.style.display = "block";
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
}
const canvas = $("timeline");
const tAt = event => {
  const box = canvas.getBoundingClientRect();
  return from + (event.clientX - box.left - LEFT) / (box.width - LEFT - 6) * (to - from);
};
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const t = tAt(event), f = Math.exp(event.deltaY * .0015);
  const span = Math.min(Math.max((to - from) * f, 1000), D.end);
  const share = (t - from) / (to - from);
  from = Math.min(Math.max(t - share * span, 0), D.end - span);
  to = from + span;
  draw();
}, {passive: false});
let drag = null;
canvas.onpointerdown = event => { drag = {x: event.clientX, from: from, to: to}; canvas.setPointerCapture(event.pointerId); };
canvas.onpointerup = () => drag = null;
canvas.ondblclick = () => { from = 0; to = D.end; draw(); };
canvas.onpointerleave = () => tip.style.display = "none";
canvas.onpointermove = event => {
  if (drag) {
    const span = drag.to - drag.from;
    from = Math.min(Math.max(drag.from - (event.clientX - drag.x) / (canvas.clientWidth - LEFT - 6) * span, 0), D.end - span);
    to = from + span;
    return draw();
  }
  const row = Math.floor((event.clientY - canvas.getBoundingClientRect().top - TOP) / ROW), track = D.tracks[row];
  const t = tAt(event), slack = 2 * (to - from) / canvas.clientWidth;
  let hit = -1;
  if (track)
    for (let k = firstBar(track.bars, t, track.longest); k < track.bars.length / 6 && track.bars[6 * k] <= t + slack; ++k)
      if (track.bars[6 * k] + track.bars[6 * k + 1] >= t - slack) hit = 6 * k;
  if (hit < 0) { tip.style.display = "none"; return; }
  const b = track.bars;
  showTip(event, `<b>${esc(D.kinds[b[hit + 3]])}</b><br>${esc(D.nodeNames[b[hit + 2]] || "no node")}<br>` +
    `${time(b[hit] / 1e12)} + ${time(b[hit + 1] / 1e12)}` +
    (b[hit + 4] ? `<br>waited ${time(b[hit + 5] / 1e12)} (${esc(D.stalls[b[hit + 4]])})` : ""));
};
$("roof").onpointermove = event => {
  const box = $("roof").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const near = ($("roof").points || []).find(p => Math.hypot(p.x - x, p.y - y) < 8);
  if (!near) { tip.style.display = "none"; return; }
  showTip(event, `<b>${esc(near.p.name)}</b><br>${near.p.x.toPrecision(4)} flops per byte<br>${big(near.flops, "F/s")}`);
};
$("roof").onpointerleave = () => tip.style.display = "none";
$("theme").onclick = () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  draw(true);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
addEventListener("resize", () => draw(true));
draw(true);
</script>
</body>
</html>
)page";

} // namespace trn::rt
