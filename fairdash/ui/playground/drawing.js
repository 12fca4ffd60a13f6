// People are moved, painted and erased. The server hears of it on release, and trains.
const REACH = 0.14 // within which a pointer takes hold of a person
const BRUSH = 0.3 // radius of the brush
const NEAR = 0.09 // painted people keep so far apart
const KEY_STEP = 0.1
const COLUMNS = ["across", "up", "group", "outcome", "wrong"]

const copied = (people) => Object.fromEntries(COLUMNS.map((name) => [name, [...people[name]]]))

function position(state, event) {
  const box = event.currentTarget.getBoundingClientRect(), { edge } = state.data
  const within = (value) => Math.max(-edge, Math.min(edge, value))
  return [
    within(((event.clientX - box.left) / box.width) * 2 * edge - edge),
    within(edge - ((event.clientY - box.top) / box.height) * 2 * edge),
  ]
}

function nearest(people, [across, up]) {
  let best = -1, least = Infinity
  for (let i = 0; i < people.across.length; i++) {
    const distance = Math.hypot(people.across[i] - across, people.up[i] - up)
    if (distance < least) [best, least] = [i, distance]
  }
  return [best, least]
}

function place(people, i, [across, up]) {
  people.across[i] = Math.round(1000 * across) / 1000
  people.up[i] = Math.round(1000 * up) / 1000
}

// what a tool does at a point; true where somebody changed
function act(state, point) {
  const { people } = state
  if (state.tool === "move") {
    if (state.held < 0) return false
    place(people, state.held, point)
    return true
  }
  if (state.tool === "erase") {
    const stays = people.across.map((across, i) =>
      Math.hypot(across - point[0], people.up[i] - point[1]) > BRUSH / 2)
    if (stays.every(Boolean)) return false
    for (const name of COLUMNS) people[name] = people[name].filter((_, i) => stays[i])
    return true
  }
  let painted = false
  for (let k = 0; k < 3 && people.across.length < state.data.most; k++) {
    const angle = 2 * Math.PI * Math.random(), far = BRUSH * Math.sqrt(Math.random())
    const spot = [point[0] + far * Math.cos(angle), point[1] + far * Math.sin(angle)]
    if (Math.max(...spot.map(Math.abs)) > state.data.edge || nearest(people, spot)[1] < NEAR) continue
    const [group, outcome] = state.brush
    const added = { across: 0, up: 0, group, outcome, wrong: 0 }
    for (const name of COLUMNS) people[name].push(added[name])
    place(people, people.across.length - 1, spot)
    painted = true
  }
  return painted
}

function begin(state, point) {
  state.before = copied(state.people)
  state.held = -1
  if (state.tool === "move") {
    const [i, distance] = nearest(state.people, point)
    if (distance < REACH) state.held = i
  }
  state.changed = state.tool !== "move" && act(state, point)
}

function end(state, tell) {
  const { before, changed } = state
  state.before = null
  state.held = -1
  if (!changed) return
  state.undo.push(before)
  tell()
}

// pointer and keys on a plane; `soon` draws, `tell` sends the people to the server
function drawOn(canvas, state, soon, tell) {
  canvas.onpointerdown = (event) => {
    if (state.tool === "look" || event.button) return
    canvas.setPointerCapture(event.pointerId)
    state.cursor = null
    begin(state, position(state, event))
    soon()
  }
  canvas.onpointermove = (event) => {
    if (!state.before || state.cursor) return
    if (act(state, position(state, event))) state.changed = true
    soon()
  }
  canvas.onpointerup = canvas.onpointercancel = () => {
    if (state.before && !state.cursor) end(state, tell)
    soon()
  }
  canvas.onfocus = () => {
    if (canvas.matches(":focus-visible")) state.cursor ??= [0, 0]
    soon()
  }
  canvas.onblur = () => {
    if (state.before && state.cursor) end(state, tell)
    state.cursor = null
    soon()
  }
  canvas.onkeydown = (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key]
    if (state.tool === "look" || !(way || event.key === " ")) return
    event.preventDefault()
    state.cursor ??= [0, 0]
    const { edge } = state.data
    if (way) {
      state.cursor = state.cursor.map((value, i) => Math.max(-edge, Math.min(edge, value + KEY_STEP * way[i])))
      if (state.before && act(state, state.cursor)) state.changed = true
    } else if (state.before) end(state, tell)
    else {
      begin(state, state.cursor)
      // a person who was taken is carried by arrows until the next press of Space
      if (state.tool !== "move" || state.held < 0) end(state, tell)
    }
    soon()
  }
}
