// What a method itself sees, in the plane: the adversary's guess, bands, counterparts.

// what is drawn of it; nothing while the people are others than those trained on
const sightOf = (state, view) => (state.see && !state.stale ? view.sees : null)

function decodeSight(sees) {
  if (!sees) return null
  const [first] = sees.stops
  const stops = sees.stops.map((stop) => {
    const decoded = { ...stop, before: stop.before ?? first.before }
    for (const name of ["weights", "guess", "before", "after"]) {
      if (decoded[name]) decoded[name] = decode(decoded[name])
    }
    if (stop.ends) decoded.ends = decodePlaces(stop.ends)
    for (const name of ["bands", "knots"]) decoded[name] = stop[name]?.map((group) => group.flat())
    decoded.guesses = stop.guesses?.map((guess) => guess ?? NaN)
    return decoded
  })
  return { ...sees, stops }
}

// Colour of a guess: that of the group it leans to, the stronger the farther it is from
// the share of the groups, which says nothing of a person.
function guessColour(groups, share) {
  return (guess) => {
    const far = guess > share ? (guess - share) / (1 - share) : (share - guess) / share
    return [...groups[guess > share ? 1 : 0], Math.round(150 * Math.min(far, 1))]
  }
}

function guessTint(view, sees, paint) {
  const values = sharesBetween(view, (setting) => sees.stops[setting].guess)
  const colour = guessColour(paint.groups.map(channels), sees.stops[view.setting].share)
  return picture(values, Math.sqrt(values.length), colour)
}

// short strokes from the decision line to where people are accepted
function drawTicks(pen, values, side, size, scale) {
  const cell = size / (side - 1), reach = 7 * scale
  const slope = (i, j, di, dj) => {
    const at = (p, q) => values[Math.min(q, side - 1) * side + Math.min(p, side - 1)]
    return at(i + di, j + dj) - at(i, j)
  }
  pen.lineWidth = 1.6 * scale
  pen.beginPath()
  contour(values, side).forEach(([a, b], k) => {
    if (k % 4) return
    const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]
    const [i, j] = middle.map(Math.floor)
    const right = slope(i, j, 1, 0), up = slope(i, j, 0, 1), length = Math.hypot(right, up) || 1
    const x = middle[0] * cell, y = size - middle[1] * cell
    pen.moveTo(x, y)
    pen.lineTo(x + (reach * right) / length, y - (reach * up) / length)
  })
  pen.stroke()
}

// hatching that leans to one side for the first group and to the other for the second
function hatching(pen, colour, group, scale) {
  const size = Math.round(9 * scale), tile = new OffscreenCanvas(size, size)
  const brush = tile.getContext("2d")
  brush.strokeStyle = colour
  brush.lineWidth = 1.6 * scale
  for (const shift of [-size, 0, size]) {
    brush.moveTo(shift, group ? 0 : size)
    brush.lineTo(shift + size, group ? size : 0)
  }
  brush.stroke()
  return pen.createPattern(tile, "repeat")
}

// spans of scores that a rule changes, hatched in the colour of the group
function drawBands(pen, view, sees, paint, side, size, scale) {
  const before = sharesBetween(view, (setting) => sees.stops[setting].before)
  paint.groups.forEach((colour, group) => {
    const flat = between(view, (setting) => sees.stops[setting].bands[group])
    const bands = []
    for (let k = 0; k < flat.length; k += 3) {
      const [low, high, strength] = flat.slice(k, k + 3)
      if (strength > 0 && high > low) bands.push([low, high, strength])
    }
    if (!bands.length) return
    const inside = (score) =>
      bands.reduce((most, [low, high, strength]) => (score >= low && score <= high ? Math.max(most, strength) : most), 0)
    const layer = new OffscreenCanvas(size, size), brush = layer.getContext("2d")
    spread(brush, picture(before, side, (score) => [0, 0, 0, Math.round(230 * inside(score))]), size)
    brush.globalCompositeOperation = "source-in"
    brush.fillStyle = hatching(brush, colour, group, scale)
    brush.fillRect(0, 0, size, size)
    pen.drawImage(layer, 0, 0)
    const cell = size / (side - 1)
    pen.strokeStyle = colour
    pen.lineWidth = 1.4 * scale
    pen.beginPath()
    for (const level of bands.flatMap(([low, high]) => [low, high])) {
      for (const [a, b] of contour(before, side, level)) {
        pen.moveTo(a[0] * cell, size - a[1] * cell)
        pen.lineTo(b[0] * cell, size - b[1] * cell)
      }
    }
    pen.stroke()
  })
}

// the part of a way from a place in a square to its end that lies in the square
function within([x, y], [toX, toY], size) {
  const share = ([from, to]) => (to < 0 ? from / (from - to) : to > size ? (size - from) / (to - from) : 1)
  const part = Math.min(share([x, toX]), share([y, toY]))
  return [x + part * (toX - x), y + part * (toY - y)]
}

// from people to their counterparts, or to the edge of the plane where these are outside
function drawArrows(pen, state, view, sees, paint, x, y, scale) {
  const { people } = state, { stops } = sees
  const ends = between(view, (setting) => stops[setting].ends)
  const head = 5 * scale, { width } = pen.canvas
  pen.strokeStyle = pen.fillStyle = paint.ink
  pen.lineWidth = 1.3 * scale
  pen.globalAlpha = 0.7
  stops[0].who.forEach((who, k) => {
    const from = [x(people.across[who]), y(people.up[who])]
    const to = within(from, [x(ends[2 * k]), y(ends[2 * k + 1])], width)
    const way = [to[0] - from[0], to[1] - from[1]], length = Math.hypot(...way)
    if (length < 2 * head) return
    const [dx, dy] = way.map((part) => (head * part) / length)
    pen.beginPath()
    pen.moveTo(...from)
    pen.lineTo(to[0] - dx, to[1] - dy)
    pen.stroke()
    pen.beginPath()
    pen.moveTo(...to)
    pen.lineTo(to[0] - 1.5 * dx - 0.7 * dy, to[1] - 1.5 * dy + 0.7 * dx)
    pen.lineTo(to[0] - 1.5 * dx + 0.7 * dy, to[1] - 1.5 * dy - 0.7 * dx)
    pen.fill()
  })
  pen.globalAlpha = 1
}
