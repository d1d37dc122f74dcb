// Draws a diagram of the document in a frame of its own, and keeps the source below it. It returns the figure, which
// stands for the block.
export function draw(pre, labels) {
  const figure = document.createElement('figure'), frame = document.createElement('iframe');
  const more = document.createElement('details'), says = document.createElement('summary');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = labels.title;
  frame.className = 'diagram';
  frame.style.height = `${pre.offsetHeight}px`; // the text below stays where it is until the drawing is there
  says.textContent = `${labels.title} · mermaid`;
  more.append(says);
  Object.assign(figure.dataset, { l: pre.dataset.l });
  figure.id = pre.id;
  pre.removeAttribute('data-l');
  pre.removeAttribute('id');
  pre.removeAttribute('tabindex');
  const language = pre.previousElementSibling?.matches('.language') ? pre.previousElementSibling : null;
  language?.remove();
  pre.replaceWith(figure);
  more.append(pre);
  figure.append(frame, more);
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  addEventListener('message', function heard(event) {
    if (event.source !== frame.contentWindow) return;
    const said = event.data;
    if (said.ready) frame.contentWindow.postMessage({ source: pre.querySelector('code').textContent, dark }, '*');
    if (Number.isFinite(said.height)) frame.style.height = `${Math.min(Math.max(said.height, 40), 4000)}px`;
    if (said.problem) {
      removeEventListener('message', heard);
      const line = document.createElement('p');
      line.className = 'bad';
      line.textContent = `${labels.undrawn} ${String(said.problem).slice(0, 300)}`;
      frame.replaceWith(line);
      more.open = true;
    }
  });
  frame.src = '/diagram/frame.html';
  return figure;
}
