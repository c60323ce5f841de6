"use strict";
// Heat maps of dies over time: a cell a die and interval, read with the pointer or the arrow keys.

const heatLevels = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function heatColours(colour) {
  const channels = (name) => css(name)().match(/[0-9a-f]{2}/gi).map((hex) => parseInt(hex, 16));
  const [from, to] = [channels("--grid"), channels(colour)];
  const top = heatLevels.length - 1;
  return (level) => from.map((c, i) => Math.round(c + (to[i] - c) * (level / top)));
}

// `cells.rows` are strings, a letter a cell, from nothing to `cells.most`; `top` has the full colour, and `tell` says
// what a value means.
function heatMap({ name, labels, cells: { rows, most }, top, end, colour, tell, where }) {
  const columns = rows[0].length;
  const canvas = document.createElement("canvas");
  canvas.heat = { name, labels, rows, most, top, end, colour };
  Object.assign(canvas, { width: columns, height: rows.length, tabIndex: 0 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", name + ". Arrow keys read its cells.");
  canvas.style.height = Math.max(Math.min(rows.length * 14, 320), 56) + "px";
  const context = canvas.getContext("2d");

  function paint() {
    const mix = heatColours(colour);
    const pixels = context.createImageData(columns, rows.length);
    rows.forEach((row, y) => [...row].forEach((letter, x) => {
      const level = heatLevels.indexOf(letter);
      if (level >= 0) pixels.data.set([...mix((level * most) / (top || 1)), 255], 4 * (y * columns + x));
    }));
    context.putImageData(pixels, 0, 0);
  }

  let [x, y] = [0, 0];
  function read() {
    const level = heatLevels.indexOf(rows[y][x]);
    const seconds = (column) => us((1e6 * end * column) / columns);
    where.textContent = `${labels[y]}, ${seconds(x)} to ${seconds(x + 1)}: ${
      level < 0 ? "the run has ended" : tell((level / (heatLevels.length - 1)) * most)}`;
  }
  const inside = (value, count) => Math.max(0, Math.min(Math.floor(value), count - 1));
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    x = inside(((event.clientX - box.left) / box.width) * columns, columns);
    y = inside(((event.clientY - box.top) / box.height) * rows.length, rows.length);
    read();
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    [x, y] = [inside(x + step[0], columns), inside(y + step[1], rows.length)];
    read();
    live.textContent = where.textContent;
  });
  paint();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  const map = document.createElement("div");
  map.className = "heat";
  const sides = document.createElement("p");
  sides.className = "heat-rows";
  const [first, last] = [labels[0], labels[labels.length - 1]];
  for (const text of first === last ? [first] : [first, last]) {
    sides.append(Object.assign(document.createElement("span"), { textContent: text }));
  }
  const times = document.createElement("p");
  times.className = "heat-times";
  for (const text of ["0", us(1e6 * end)]) {
    times.append(Object.assign(document.createElement("span"), { textContent: text }));
  }
  map.append(sides, canvas, times);
  return map;
}

// The key: from the colour of nothing to that of the most.
function heatKey(colour, least, most) {
  const key = document.createElement("p");
  key.className = "heat-key";
  const ramp = document.createElement("i");
  ramp.style.background = `linear-gradient(to right, var(--grid), var(${colour}))`;
  key.append(least, ramp, most);
  return key;
}
