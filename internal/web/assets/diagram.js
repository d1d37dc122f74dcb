// Shows a diagram of the document in a frame of its own, when a person asks for it.
export function draw(code, labels) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = labels.title;
  frame.className = 'diagram';
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  addEventListener('message', function heard(event) {
    if (event.source !== frame.contentWindow) return;
    const said = event.data;
    if (said.ready) frame.contentWindow.postMessage({ source: code.textContent, dark }, '*');
    if (Number.isFinite(said.height)) frame.style.height = `${Math.min(Math.max(said.height, 40), 4000)}px`;
    if (said.problem) {
      removeEventListener('message', heard);
      const line = document.createElement('p');
      line.className = 'bad';
      line.textContent = `${labels.undrawn} ${String(said.problem).slice(0, 300)}`;
      frame.replaceWith(line);
    }
  });
  frame.src = '/diagram/frame.html';
  code.closest('pre').after(frame);
}
