"use strict";
// What a design that nobody has run would probably come to: the study's trees, asked again with each move of a slider.

// Whether a choice exists beside what has been chosen.
function exists(controls, picks, control) {
  if (!control.beside) return true;
  const [name, labels] = control.beside;
  return labels.includes(picks[name]) && exists(controls, picks, controls.find((own) => own.name === name));
}

// The step of a slider that is nearest to a pick.
function stepOf(control, pick) {
  const gaps = control.steps.map(([own]) => Math.abs(own - pick));
  return control.steps[gaps.indexOf(Math.min(...gaps))];
}

// A design as a row of numbers, as the trees know it.
function rowOf(controls, picks) {
  return controls.flatMap((own) => {
    const there = exists(controls, picks, own);
    if (own.options) return own.options.map(([name]) => Number(there && picks[own.name] === name));
    return [there ? stepOf(own, picks[own.name])[1] : own.absent];
  });
}

// What a tree says of a row. A node's left one is the next.
function leafOf([columns, numbers, rights], row) {
  let node = 0;
  while (columns[node] >= 0) node = Math.fround(row[columns[node]]) <= numbers[node] ? node + 1 : rights[node];
  return numbers[node];
}

// A number and the ends of its interval.
function toldOf(model, row) {
  const all = model.trees.map((tree) => leafOf(tree, row));
  const mean = all.reduce((a, b) => a + b) / all.length;
  const spread = Math.sqrt(all.reduce((sum, one) => sum + (one - mean) ** 2, 0) / all.length);
  const half = model.width * (spread + model.floor);
  return [mean, mean - half, mean + half].map(Math.exp);
}

// The settings of a design, as the command line has them.
function settingsOf(controls, picks) {
  const text = (own) => {
    if (!own.options) return stepOf(own, picks[own.name])[2];
    const whole = own.options.find(([name]) => name === picks[own.name])[1];
    const inside = controls.filter((one) => one.beside && one.inner && one.beside[0] === own.name && exists(controls, picks, one));
    return inside.length ? whole.replace(/ ?}$/, `, ${inside.map((one) => `${one.inner} = ${text(one)}`).join(", ")} }`) : whole;
  };
  return controls.filter((own) => !own.inner && exists(controls, picks, own)).map((own) => `${own.key}=${text(own)}`);
}

// A word of the command line, in quotes where the shell needs them.
const quoted = (word) => (/^[\w.,:/=%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const tried = document.getElementById("tried");
if (tried && data.sliders) {
  const { controls, models } = data.sliders;
  const picks = {};
  // `copyback view` runs what is asked for; a file cannot.
  const really = document.getElementById("tried-really");
  really.hidden = !["127.0.0.1", "localhost"].includes(location.hostname);
  for (const own of controls) picks[own.name] = data.sliders.begin[own.name] ?? (own.options ? own.options[0][0] : own.steps[0][0]);

  const show = () => {
    for (const own of controls) document.getElementById(`try-${own.name}`).closest("label").hidden = !exists(controls, picks, own);
    const row = rowOf(controls, picks);
    for (const model of models) {
      const objective = data.objectives[model.place];
      const format = objective.time ? us : (v) => short(Number(v.toPrecision(4)));
      const [middle, low, high] = toldOf(model, row).map((v) => format(v));
      document.getElementById(`told-${model.place}`).textContent = `${middle} (${low} to ${high})`;
    }
    const words = [...data.sliders.command, ...settingsOf(controls, picks).flatMap((own) => ["--set", own])];
    document.getElementById("tried-command").textContent = words.map(quoted).join(" ");
    really.href = `/try?${new URLSearchParams(settingsOf(controls, picks).map((own) => ["set", own]))}`;
  };

  for (const own of controls) {
    const id = `try-${own.name}`;
    const input = document.createElement(own.options ? "select" : "input");
    input.id = id;
    const told = document.createElement("output");
    if (own.options) {
      for (const [name] of own.options) input.append(new Option(name, name, false, name === picks[own.name]));
      input.addEventListener("change", () => { picks[own.name] = input.value; show(); });
    } else {
      const step = () => own.steps[Number(input.value)];
      Object.assign(input, { type: "range", min: 0, max: own.steps.length - 1, value: own.steps.indexOf(stepOf(own, picks[own.name])) });
      const tell = () => { told.textContent = step()[2].replaceAll('"', ""); input.setAttribute("aria-valuetext", told.textContent); };
      input.addEventListener("input", () => { [picks[own.name]] = step(); tell(); show(); });
      tell();
    }
    const row = document.createElement("label");
    row.append(Object.assign(document.createElement("span"), { textContent: own.label }), input, told);
    tried.append(row);
  }
  show();
}
