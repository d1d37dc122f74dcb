// Draws one diagram in a frame that has no origin: it can reach neither the page nor the network.
const drawn = document.getElementById('drawn');
addEventListener('message', async (event) => {
  if (event.source !== parent) return;
  const { source, dark } = event.data;
  try {
    mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'neutral', fontFamily: 'system-ui, sans-serif' });
    drawn.innerHTML = (await mermaid.render('diagram', source)).svg;
    parent.postMessage({ height: Math.ceil(document.documentElement.getBoundingClientRect().height) }, '*');
  } catch (problem) {
    parent.postMessage({ problem: String(problem.message ?? problem) }, '*');
  }
});
parent.postMessage({ ready: true }, '*');
