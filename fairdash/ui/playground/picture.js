// The plane of one method: its surface, the people, the decision line.

function colours(root, data) {
  const style = getComputedStyle(root)
  const token = (name) => style.getPropertyValue(name).trim()
  return { ink: token("--st-text-color"), accent: token("--st-primary-color"), groups: data.colours }
}

function drawPlane(state, view) {
  const { data } = state, { canvas } = view
  const box = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1
  const size = Math.max(Math.round(box.width * scale), 100)
  if (canvas.width !== size) canvas.width = canvas.height = size
  const pen = canvas.getContext("2d"), paint = colours(state.root, data)
  const unit = size / (2 * data.edge), side = data.side
  const x = (value) => (value + data.edge) * unit, y = (value) => (data.edge - value) * unit
  const cell = size / (side - 1)
  pen.clearRect(0, 0, size, size)
  const surfaces = view.shown.map((_, group) => surface(view, group))
  const sees = sightOf(state, view)
  if (sees?.kind === "guess") spread(pen, guessTint(view, sees, paint), size)
  else spread(pen, tint(surfaces[0], side, paint.accent), size)
  if (sees?.kind === "rules") drawBands(pen, view, sees, paint, side, size, scale)
  drawQuarters(pen, paint, x(0), y(0), size, scale)
  // in half the width, marks of full size would hide one another
  const small = scale * Math.min(box.width / 480, 1)
  drawPeople(pen, state, view, sees, paint, x, y, small)
  if (sees?.kind === "counterparts") drawArrows(pen, state, view, sees, paint, x, y, small)
  surfaces.forEach((values, group) => {
    pen.strokeStyle = surfaces.length > 1 ? paint.groups[group] : paint.ink
    pen.lineWidth = 3 * scale
    pen.beginPath()
    for (const [a, b] of contour(values, side)) {
      pen.moveTo(a[0] * cell, size - a[1] * cell)
      pen.lineTo(b[0] * cell, size - b[1] * cell)
    }
    pen.stroke()
    // the tint is taken by something else
    if (sees?.kind === "guess") drawTicks(pen, values, side, size, scale)
  })
  drawCursor(pen, state, paint, x, y, scale)
}

function drawQuarters(pen, paint, middle, level, size, scale) {
  pen.lineWidth = scale
  pen.strokeStyle = paint.ink
  pen.globalAlpha = 0.18
  pen.setLineDash([4 * scale, 4 * scale])
  pen.beginPath()
  pen.moveTo(middle, 0); pen.lineTo(middle, size)
  pen.moveTo(0, level); pen.lineTo(size, level)
  pen.stroke()
  pen.setLineDash([])
  pen.globalAlpha = 1
}

// A round, B square; filled where the outcome is 1; larger where the method looks
function drawPeople(pen, state, view, sees, paint, x, y, scale) {
  const { people } = state
  const weights = sees?.stops[0].weights && between(view, (setting) => sees.stops[setting].weights)
  const unit = sees && sees.most_weight / 255
  for (let i = 0; i < people.across.length; i++) {
    const large = weights ? Math.max(Math.sqrt(weights[i] * unit), 0.45) : 1
    const radius = 3.2 * scale * large
    const px = x(people.across[i]), py = y(people.up[i])
    pen.beginPath()
    if (people.group[i]) pen.rect(px - radius * 0.9, py - radius * 0.9, radius * 1.8, radius * 1.8)
    else pen.arc(px, py, radius, 0, 7)
    pen.lineWidth = 1.4 * scale
    pen.strokeStyle = pen.fillStyle = paint.groups[people.group[i]]
    pen.globalAlpha = 0.85
    if (people.outcome[i]) pen.fill()
    else pen.stroke()
    if (people.wrong[i] && state.data.truth) {
      pen.strokeStyle = paint.ink
      pen.beginPath()
      pen.arc(px, py, radius * 2, 0, 7)
      pen.stroke()
    }
  }
  pen.globalAlpha = 1
}

// where keys act
function drawCursor(pen, state, paint, x, y, scale) {
  if (!state.cursor) return
  const [px, py] = [x(state.cursor[0]), y(state.cursor[1])], arm = 9 * scale
  pen.strokeStyle = paint.ink
  pen.lineWidth = 2 * scale
  pen.beginPath()
  pen.moveTo(px - arm, py); pen.lineTo(px + arm, py)
  pen.moveTo(px, py - arm); pen.lineTo(px, py + arm)
  pen.stroke()
}
