// One or two methods on the same people, which follow one slider. Between trained stops
// surfaces are interpolated; words and figures are those of the nearest setting.
const RANGE = 160 // steps of the slider, a multiple of every number of stops less one
const PLAY_MS = 5000 // from one end to the other
const LOOK_MS = 160 // between two looks whether more stops are trained
const LOST_MS = 1000 // after which people are sent again if the server has not answered
const TRIES = 30 // as often; training on a busy machine takes seconds
const TOOLS = [["look", "Look"], ["move", "Move"], ["paint", "Paint"], ["erase", "Erase"]]
const BRUSHES = [[0, 1], [0, 0], [1, 1], [1, 0]] // group and outcome

const still = matchMedia("(prefers-reduced-motion: reduce)")

function say(element, text) {
  if (element.textContent !== text) element.textContent = text // else it is read again
}

const lastOf = (axis) => (axis?.stops.length ?? 1) - 1

// a value of a slider, and whether a model was trained with it
function valueText(axis, place) {
  const near = Math.round(place)
  if (Math.abs(place - near) < 0.01) return `${axis.stops[near]} (trained)`
  return `between ${axis.stops[Math.floor(place)]} and ${axis.stops[Math.ceil(place)]}`
}

const letter = (axis) => axis.title.match(/\((.+)\)$/)?.[1] ?? axis.title

function follow(state) {
  const share = state.input.value / RANGE
  state.input.style.setProperty("--share", `${100 * share}%`)
  for (const view of state.views) {
    view.place = share * lastOf(view.slider)
    const second = view.secondInput
    view.secondPlace = lastOf(view.second) * (second.value / RANGE)
    second.style.setProperty("--share", `${(100 * second.value) / RANGE}%`)
    view.setting =
      Math.round(view.secondPlace) * (lastOf(view.slider) + 1) + Math.round(view.place)
    if (view.second) {
      const text = valueText(view.second, view.secondPlace)
      say(view.secondOutput, text)
      second.setAttribute("aria-valuetext", text)
    }
    const setting = view.slider ? `${letter(view.slider)} ${valueText(view.slider, view.place)}` : "one model"
    say(view.name, `${view.method}: ${setting}`)
  }
  const moved = state.views.filter((view) => view.slider)
  const texts = [...new Set(moved.map((view) => valueText(view.slider, view.place)))]
  const text = texts.length === 1 ? texts[0] : texts.length ? `${Math.round(100 * share)}% of both ranges` : ""
  say(state.output, text)
  state.input.setAttribute("aria-valuetext", text)
}

function redraw(state) {
  state.frame = 0
  follow(state)
  for (const view of state.views) {
    drawPlane(state, view)
    const width = Math.max(view.side.clientWidth, 260)
    say(view.words, view.words_of[view.setting])
    say(view.facts, facts(view.path[view.setting]))
    view.rates.innerHTML = rates(state.data, view, width)
    view.along.innerHTML = view.slider ? along(view, width) : ""
    const sees = sightOf(state, view)
    view.sight.hidden = !sees
    say(view.caption, sees?.stops[view.setting].caption ?? "")
    view.seen.innerHTML = sightFigure(state, view, width)
  }
  say(state.root.querySelector(".key"), key(state))
}

const VIEW = `<section class="view"><p class="name"></p><p class="facts"></p>
    <div class="plane"><canvas role="img"></canvas></div>
    <div class="row second"><label><span class="title"></span><output></output><input type="range" min="0" max="${RANGE}" step="1"><span class="stops"></span></label></div>
  </section>`
const SIDE = `<div class="side"><p class="name"></p><p class="words" aria-live="polite"></p><p class="head">Accepted</p><div class="rates"></div>
    <p class="head along-title">Along the slider</p><div class="along"></div>
    <div class="sight" hidden><p class="head"></p><p class="caption"></p><div class="seen"></div></div></div>`

function mount(root) {
  const tools = TOOLS.map(([name, label]) => `<button type="button" data-tool="${name}" aria-pressed="false">${label}</button>`)
  root.innerHTML = `<div class="grid"><div class="left"><div class="views"></div>
      <div class="hand"><div class="row first"><label><span class="title"></span><output></output><input type="range" min="0" max="${RANGE}" step="1" value="0"><span class="stops"></span></label>
        <button type="button" class="play" aria-pressed="false">Play</button></div></div>
      <p class="key"></p>
      <p class="status" role="status"></p>
      <label class="see" hidden><input type="checkbox" checked> What the method sees</label>
      <div class="tools" role="group" aria-label="Draw">${tools.join("")}
        <label class="brush">Brush <select></select></label>
        <button type="button" class="undo" disabled>Undo</button></div></div>
    <div class="sides"></div></div>`
  const find = (selector) => root.querySelector(selector)
  return {
    root, input: find(".first input"), output: find(".first output"), play: find(".play"),
    see: true, views: [], frame: 0, playing: 0, id: null, edit: 0, sent: 0, tries: 0, undo: [], tool: "look", brush: BRUSHES[2],
    held: -1, looks: 0, pressed: false, before: null, cursor: null, stale: false, people: null,
  }
}

// markup of as many methods as there are; it stays while they only get more stops
function arrange(state, count) {
  const { root } = state
  if (state.views.length === count) return
  root.querySelector(".grid").dataset.views = count
  root.querySelector(".views").innerHTML = VIEW.repeat(count)
  root.querySelector(".sides").innerHTML = SIDE.repeat(count)
  const sides = root.querySelectorAll(".side")
  state.views = [...root.querySelectorAll(".view")].map((part, i) => ({
    name: part.querySelector(".name"),
    facts: part.querySelector(".facts"),
    canvas: part.querySelector("canvas"),
    secondRow: part.querySelector(".second"),
    secondInput: part.querySelector(".second input"),
    secondOutput: part.querySelector(".second output"),
    side: sides[i],
    words: sides[i].querySelector(".words"),
    rates: sides[i].querySelector(".rates"),
    along: sides[i].querySelector(".along"),
    sight: sides[i].querySelector(".sight"),
    caption: sides[i].querySelector(".caption"),
    seen: sides[i].querySelector(".seen"),
  }))
}

const ticks = (axis) =>
  axis.stops.map((_, i) => `<i style="left:${(100 * i) / Math.max(lastOf(axis), 1)}%"></i>`).join("")

function take(state, given) {
  const before = state.views.map((view) => view.method)
  arrange(state, given.views.length)
  given.views.forEach((data, i) => {
    const view = state.views[i]
    const again = before[i] === data.method && view.second && data.second
    Object.assign(view, data, { words_of: data.words, words: view.words })
    view.surfaces = data.grids.map((setting) => setting.map(decode))
    view.grids = null
    view.sees = decodeSight(data.sees)
    view.sight.querySelector(".head").textContent = data.sees?.title ?? ""
    view.secondRow.hidden = !data.second
    if (data.second) {
      view.secondRow.querySelector(".title").textContent = data.second.title
      view.secondRow.querySelector("label").title = data.second.help
      view.secondRow.querySelector(".stops").innerHTML = ticks(data.second)
      if (!again) view.secondInput.value = RANGE / 2
    }
    view.canvas.setAttribute("aria-label", `People in the plane and the surface of ${data.method}`)
    view.side.querySelector(".name").textContent = data.method
    view.side.querySelector(".along-title").hidden = !data.slider
  })
  takeSlider(state)
  state.root.querySelector(".see").hidden = !state.views.some((view) => view.sees)
}

function takeSlider(state) {
  const sliders = state.views.map((view) => view.slider).filter(Boolean)
  const titles = [...new Set(sliders.map((slider) => slider.title))]
  const { root, input, play } = state
  input.disabled = play.disabled = !sliders.length
  root.querySelector(".first .title").textContent = titles.length ? titles.join(", ") : "No slider: one model"
  root.querySelector(".first label").title = sliders.length === 1 ? sliders[0].help : ""
  const most = sliders.sort((a, b) => b.stops.length - a.stops.length)[0]
  root.querySelector(".first .stops").innerHTML = most ? ticks(most) : ""
}

function key(state) {
  const [a, b] = state.data.groups, [across, up] = state.data.axes
  const parts = across ? [`Across: ${across}. Up: ${up}.`] : []
  parts.push(`Round ${a}, square ${b}; filled: outcome 1.`)
  const seen = state.views.map((view) => sightOf(state, view))
  if (seen.some((sees) => sees?.kind !== "guess")) parts.push("Tinted: accepted.")
  if (seen.some((sees) => sees?.kind === "guess")) parts.push("Strokes on the line point to those accepted.")
  if (state.views.some((view) => view.shown.length > 1)) parts.push(`A line for each group, in its colour; the tint is for ${a}.`)
  if (state.data.truth) parts.push("Ringed: recorded in the wrong group.")
  const keys = seen.map((sees, i) => sees?.stops[state.views[i].setting].key).filter(Boolean)
  return [...parts, ...new Set(keys)].join(" ")
}

function play(state, soon) {
  const on = !state.playing
  cancelAnimationFrame(state.playing)
  state.playing = 0
  state.play.setAttribute("aria-pressed", on)
  state.play.textContent = on ? "Stop" : "Play"
  if (!on) return
  const began = performance.now()
  const from = +state.input.value >= RANGE ? 0 : +state.input.value
  const stops = Math.max(...state.views.map((view) => lastOf(view.slider)), 1)
  const step = (now) => {
    const value = Math.min(from + ((now - began) / PLAY_MS) * RANGE, RANGE)
    const stop = RANGE / stops
    state.input.value = still.matches ? Math.floor(value / stop) * stop : value
    soon()
    if (value >= RANGE) return play(state, soon)
    state.playing = requestAnimationFrame(step)
  }
  state.playing = requestAnimationFrame(step)
}

function choose(state, tool) {
  state.tool = tool
  for (const button of state.root.querySelectorAll("[data-tool]")) {
    button.setAttribute("aria-pressed", button.dataset.tool === tool)
  }
  state.root.querySelector(".brush").hidden = tool !== "paint"
  for (const { canvas } of state.views) {
    canvas.style.touchAction = tool === "look" ? "" : "none"
    canvas.style.cursor = tool === "look" ? "" : tool === "move" ? "grab" : "crosshair"
    if (tool === "look") canvas.removeAttribute("tabindex")
    else canvas.tabIndex = 0
  }
}

function brushes(state) {
  const select = state.root.querySelector("select")
  const { groups } = state.data
  select.replaceChildren(...BRUSHES.map(([group, outcome], i) => new Option(`${groups[group]}, outcome ${outcome}`, i)))
  select.value = BRUSHES.indexOf(state.brush)
  select.onchange = () => { state.brush = BRUSHES[select.value] }
}

const mounted = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".live_plane")
  if (!mounted.has(root)) mounted.set(root, mount(root))
  const state = mounted.get(root)
  const given = data instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(data)) : data
  const soon = () => { state.frame ||= requestAnimationFrame(() => redraw(state)) }
  const status = root.querySelector(".status"), undo = root.querySelector(".undo")
  const send = () => {
    state.sent = performance.now()
    state.tries += 1
    setTriggerValue("people", { edit: state.edit, ...copied(state.people) })
  }
  const tell = () => {
    state.edit += 1
    state.tries = 0
    state.stale = true
    undo.disabled = !state.undo.length
    say(status, "Trains…")
    send()
  }
  if (state.id !== given.id) {
    const scene = state.data?.scene !== given.scene
    state.id = given.id
    state.data = given
    // an answer to an earlier edit does not undo what was drawn since
    if (scene || (given.edit >= state.edit && !given.problem)) {
      state.people = copied(given.people)
      state.stale = given.waiting
    }
    if (scene) state.undo = []
    // to go back to the scene's own people is an edit of the server
    state.edit = scene ? given.edit : Math.max(state.edit, given.edit)
    take(state, given)
    brushes(state)
    // rows of a table stay as they are
    root.querySelector(".tools").hidden = given.axes.length > 0
    choose(state, given.axes.length ? "look" : state.tool)
    undo.disabled = !state.undo.length
    root.querySelector(".grid").classList.toggle("waiting", given.waiting)
    const trains = given.waiting || given.edit < state.edit
    say(status, given.problem || (trains ? "Trains…" : given.rest ? "More stops are being trained…" : ""))
    clearInterval(state.looks)
    state.looks = setInterval(() => {
      // not during a drag: between press and release nothing is sent
      if (state.pressed || state.before) return
      // of two messages that wait together the server hears the later one alone
      if (given.edit < state.edit) {
        if (performance.now() - state.sent < LOST_MS) return
        if (state.tries < TRIES) send()
        else say(status, "The server does not answer. Draw once more, or undo.")
      } else if (given.rest) setTriggerValue("rest", `${given.id} ${performance.now()}`)
    }, LOOK_MS)
  }
  state.data.colours = given.colours
  state.data.truth = given.truth
  state.input.oninput = soon
  const see = root.querySelector(".see input")
  see.onchange = () => {
    state.see = see.checked
    soon()
  }
  root.onpointerdown = () => { state.pressed = true }
  root.onpointerup = root.onpointercancel = () => { state.pressed = false }
  state.play.onclick = () => play(state, soon)
  for (const view of state.views) {
    view.secondInput.oninput = soon
    drawOn(view.canvas, state, soon, tell)
  }
  for (const button of root.querySelectorAll("[data-tool]")) {
    button.onclick = () => choose(state, button.dataset.tool)
  }
  undo.onclick = () => {
    state.people = state.undo.pop()
    tell()
    soon()
  }
  redraw(state)
  state.watcher?.disconnect() // this is called anew at every change of the data
  state.watcher = new ResizeObserver(soon)
  state.watcher.observe(root)
  return () => {
    state.watcher.disconnect()
    clearInterval(state.looks)
    cancelAnimationFrame(state.playing)
    state.playing = 0
  }
}
