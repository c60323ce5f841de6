"use strict";
// Every figure as SVG and PNG, every table as CSV and LaTeX. Files have the light colours, whatever the page has.

// Colours --------------------------------------------------------------------------------------------

const lightOf = (() => {
  const rule = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).find((one) => one.selectorText === ":root");
  return (name) => rule.style.getPropertyValue(name).trim() || "#000";
})();
const mixed = (first, second, part) => {
  const channels = (hex) => hex.match(/[0-9a-f]{2}|[0-9a-f](?=[0-9a-f]{0,2}$)/gi).map((v) => parseInt(v.length === 1 ? v + v : v, 16));
  const [a, b] = [channels(first), channels(second)];
  return "#" + a.map((v, i) => Math.round(v * part + b[i] * (1 - part)).toString(16).padStart(2, "0")).join("");
};
const inLight = (text) => text.replace(/var\((--[\w-]+)\)/g, (_, name) => lightOf(name))
  .replace(/color-mix\(in srgb, (#\w+) (\d+)%, (#\w+)\)/g, (_, a, part, b) => mixed(a, b, part / 100));

// Figures --------------------------------------------------------------------------------------------

// A chart of uPlot, which is drawn on a canvas, once more: as it is zoomed, with the lines that are switched on.
function chartPicture({ u, series, name, labels: [across, up], bands }) {
  const ratio = devicePixelRatio;
  const [wide, high] = [u.bbox.width / ratio, u.bbox.height / ratio];
  const [left, top] = [u.bbox.left / ratio + (up ? 18 : 0), u.bbox.top / ratio];
  const [width, height] = [u.width + (up ? 18 : 0), u.height + (across ? 18 : 0)];
  const shownSeries = series.map((own, i) => ({ own, values: u.data[i + 1], at: u.series[i + 1] })).filter(({ at }) => at.show);
  const entries = shownSeries.map(({ own }) => ({ name: own.label, colour: own.colour }));
  const keys = legendHeight(width - 20, entries);
  const made = picture(width, height + keys + 6, name);
  if (across) made.append(label(left + wide / 2, top + high + 38, across));
  if (up) made.append(label(12, top + high / 2, up, { transform: `rotate(-90 12 ${top + high / 2})` }));
  u.axes.forEach((own, i) => {
    const texts = own._values ?? [];
    (own._splits ?? []).forEach((v, k) => {
      if (v == null || texts[k] == null || texts[k] === "") return;
      if (i === 0) {
        const x = left + u.valToPos(v, "x");
        if (x >= left - 1 && x <= left + wide + 1) made.append(svg("line", { x1: x, x2: x, y1: top, y2: top + high, stroke: "var(--grid)" }), label(x, top + high + 18, texts[k]));
      } else {
        const y = top + u.valToPos(v, own.scale);
        if (y >= top - 1 && y <= top + high + 1) made.append(svg("line", { x1: left, x2: left + wide, y1: y, y2: y, stroke: "var(--grid)" }), label(left - 8, y + 4, texts[k], { anchor: "end" }));
      }
    });
  });
  // What a picture in a picture shows ends at its edges.
  const body = svg("svg", { x: left, y: top, width: wide, height: high, viewBox: `${left} ${top} ${wide} ${high}` });
  made.append(body);
  const [xs, { min, max }] = [u.data[0], u.scales.x];
  const px = (v) => left + u.valToPos(v, "x");
  for (const { between, colour } of bands) {
    const [upper, lower] = between.map((k) => shownSeries.find(({ own }) => own === series[k]));
    if (upper && lower) body.append(svg("path", { d: bandPath(upper, lower, xs, px, u, top), fill: `var(${colour})`, "fill-opacity": 0.18 }));
  }
  for (const { own, values, at } of shownSeries) {
    const py = (v) => top + u.valToPos(Math.min(Math.max(v, u.scales[at.scale].min), u.scales[at.scale].max), at.scale);
    const inside = xs.map((x, i) => i).filter((i) => (xs[i + 1] ?? xs[i]) >= min && (xs[i - 1] ?? xs[i]) <= max);
    const colour = `var(${own.colour})`;
    const floor = top + high;
    if (own.filled && !own.own) {
      const bars = inside.filter((i) => values[i]).map((i) => {
        const [x, end] = [px(xs[i]), px(xs[i + 1] ?? columnsEnd(u, xs))];
        return `M${x.toFixed(2)} ${floor}V${py(values[i]).toFixed(2)}H${end.toFixed(2)}V${floor}Z`;
      });
      body.append(svg("path", { d: bars.join(""), fill: colour, "fill-opacity": own.colour === "--gc" ? 0.42 : 1 }));
      continue;
    }
    const runs = [[]];
    for (const i of inside) {
      if (values[i] == null) runs.push([]);
      else runs.at(-1).push([px(xs[i]), py(values[i])].map((v) => v.toFixed(2)));
    }
    for (const run of runs.filter((points) => points.length)) {
      if (own.dots) { body.append(...run.map(([cx, cy]) => svg("circle", { cx, cy, r: 4, fill: colour }))); continue; }
      if (run.length === 1) { body.append(svg("circle", { cx: run[0][0], cy: run[0][1], r: 2, fill: colour })); continue; }
      const joined = run.map(([x, y], i) => (i === 0 ? `M${x} ${y}` : own.stepped ? `H${x}V${y}` : `L${x} ${y}`)).join("");
      if (own.own) body.append(svg("path", { d: `${joined}V${floor}H${run[0][0]}Z`, fill: colour }));
      else body.append(svg("path", { d: joined, fill: "none", stroke: colour, "stroke-width": own.width, ...(own.dash ? { "stroke-dasharray": own.dash.join(" ") } : {}) }));
    }
  }
  made.append(svg("line", { x1: left, x2: left + wide, y1: top + high, y2: top + high, stroke: "var(--faint)" }));
  legend(made, 10, height + 12, width - 20, entries);
  return made;
}

// Between two lines, where both have values.
function bandPath(upper, lower, xs, px, u, top) {
  const { min, max } = u.scales.x;
  const pieces = [[]];
  xs.forEach((x, i) => {
    if (x < min || x > max) return;
    if (upper.values[i] == null || lower.values[i] == null) pieces.push([]);
    else pieces.at(-1).push(i);
  });
  const point = ({ values, at }) => (i) => `${px(xs[i]).toFixed(2)} ${(top + u.valToPos(values[i], at.scale)).toFixed(2)}`;
  return pieces.filter((own) => own.length > 1).map((own) => `M${[...own.map(point(upper)), ...own.reverse().map(point(lower))].join("L")}Z`).join("");
}

const columnsEnd = (u, xs) => u.scales.x.max ?? xs.at(-1);

// Heat maps below one another: runs of cells of one colour are one rectangle.
function heatPicture(canvases, name) {
  const [wide, row, left, gap] = [720, 12, 60, 44];
  const heights = canvases.map(({ heat }) => heat.rows.length * row + gap);
  const made = picture(left + wide + 60, heights.reduce((sum, v) => sum + v, 10), name);
  let top = 4;
  canvases.forEach(({ heat }, place) => {
    const { rows, labels, most, top: full, end, colour, name: title } = heat;
    const each = wide / rows[0].length;
    made.append(label(left, top + 12, fitted(title, wide), { anchor: "start", colour: "--ink" }));
    rows.forEach((text, y) => {
      for (let x = 0; x < text.length;) {
        let last = x;
        while (last + 1 < text.length && text[last + 1] === text[x]) last += 1;
        const level = heatLevels.indexOf(text[x]);
        const part = Math.round((100 * level * most) / (full || 1) / (heatLevels.length - 1));
        if (level >= 0) made.append(svg("rect", { x: (left + x * each).toFixed(2), y: top + 20 + y * row, width: ((last + 1 - x) * each).toFixed(2), height: row,
          fill: `color-mix(in srgb, var(${colour}) ${Math.min(part, 100)}%, var(--grid))`, "shape-rendering": "crispEdges" }));
        x = last + 1;
      }
    });
    const bottom = top + 20 + rows.length * row;
    made.append(label(left - 6, top + 30, labels[0], { anchor: "end" }), label(left, bottom + 14, "0", { anchor: "start" }), label(left + wide, bottom + 14, us(1e6 * end), { anchor: "end" }));
    if (labels.length > 1) made.append(label(left - 6, bottom - 2, labels.at(-1), { anchor: "end" }));
    top += heights[place];
  });
  return made;
}

// What a figure shows as SVG; null if it shows nothing.
function pictureIn(figure) {
  const drawn_ = figure.querySelector("svg.figure");
  if (drawn_) return drawn_.cloneNode(true);
  const record = charts.find(({ plot }) => figure.contains(plot));
  if (record) return chartPicture(record);
  const maps = [...figure.querySelectorAll("canvas")].filter((canvas) => canvas.heat);
  return maps.length ? heatPicture(maps, figure.querySelector("figcaption strong").textContent) : null;
}

function svgText(figure) {
  const made = pictureIn(figure);
  if (!made) return null;
  const { width, height } = made.viewBox.baseVal;
  made.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  made.insertBefore(svg("rect", { width, height, fill: "#fff" }), made.firstChild.nextSibling);
  for (const link of made.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  for (const node of made.querySelectorAll("[tabindex]")) node.removeAttribute("tabindex");
  return { text: inLight(new XMLSerializer().serializeToString(made)), width, height };
}

function pngBlob({ text, width, height }, scale = 3) {
  return new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: width * scale, height: height * scale });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(done, "image/png");
    };
    image.onerror = failed;
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  });
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  live.textContent = `Saved ${name}`;
}

// Tables ---------------------------------------------------------------------------------------------

const rowsOf = (table) => tableSources.get(table.id)?.() ?? [...table.rows].map((row) =>
  [...row.cells].flatMap((cell) => [[...cell.childNodes].map((node) => node.textContent.trim()).filter(Boolean).join(" "), ...Array(cell.colSpan - 1).fill("")]));

const csvOf = (rows) => rows.map((row) => row.map((cell) => {
  const text = cell == null ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}).join(",")).join("\r\n") + "\r\n";

const latexMarks = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "µ": "\\textmu{}", "×": "$\\times$",
  "±": "$\\pm$", "−": "$-$", "–": "--", "·": "$\\cdot$", "…": "\\dots{}", "↑": "$\\uparrow$", "↓": "$\\downarrow$", "\u202f": "\\,", "\u00a0": "~" };
const latexCell = (cell) => (cell == null ? "--" : String(typeof cell === "number" ? Number(cell.toPrecision(6)) : cell)
  .replace(/[\\~^µ×±−–·…↑↓\u202f\u00a0]|[&%$#_{}]/g, (mark) => latexMarks[mark] ?? "\\" + mark));
function latexOf(rows) {
  const columns = Math.max(...rows.map((row) => row.length));
  const lines = rows.map((row) => row.map(latexCell).join(" & ") + " \\\\");
  return ["% needs \\usepackage{booktabs}", `\\begin{tabular}{l${"r".repeat(columns - 1)}}`, "\\toprule", lines[0], "\\midrule", ...lines.slice(1), "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

// Buttons --------------------------------------------------------------------------------------------

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-|-$/g, "");
function exportButtons(what, choices) {
  const made = document.createElement("span");
  made.className = "exports";
  for (const [name, act] of choices) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    button.setAttribute("aria-label", `Save ${what} as ${name}`);
    button.addEventListener("click", act);
    made.append(button);
  }
  return made;
}

for (const figure of document.querySelectorAll("figure[id]")) {
  const caption = figure.querySelector("figcaption");
  if (!caption) continue;
  const shownNow = () => svgText(figure) ?? (live.textContent = "This figure shows nothing now", null);
  const choices = [
    ["SVG", () => { const found = shownNow(); if (found) save(`${figure.id}.svg`, new Blob([found.text], { type: "image/svg+xml" })); }],
    ["PNG", async () => { const found = shownNow(); if (found) save(`${figure.id}.png`, await pngBlob(found)); }],
  ];
  caption.append(exportButtons(caption.querySelector("strong")?.textContent ?? figure.id, choices));
}
document.querySelectorAll("main table").forEach((table, place) => {
  const title = table.caption?.textContent.trim() || table.closest("section")?.querySelector("h2")?.textContent.trim() || "table";
  const name = slug(table.id || title) || `table-${place + 1}`;
  const choices = [
    ["CSV", () => save(`${name}.csv`, new Blob([csvOf(rowsOf(table))], { type: "text/csv" }))],
    ["LaTeX", () => save(`${name}.tex`, new Blob([latexOf(rowsOf(table))], { type: "application/x-tex" }))],
  ];
  const holder = table.closest(".scroll") ?? table;
  const line_ = document.createElement("p");
  line_.className = "exports-line";
  line_.append(exportButtons(title, choices));
  // Beside others the buttons stay in the panel of their table.
  if (holder.parentElement.matches(".split, .halves, .thirds")) holder.append(line_);
  else holder.after(line_);
});
