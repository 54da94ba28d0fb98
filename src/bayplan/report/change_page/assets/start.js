// Decode the data that the document carries, and make the page.
async function start() {
  const problem = document.getElementById("problem");
  try {
    const page = new ChangePage(new Cluster(await decode(document.getElementById("data").textContent.trim())));
    window.bayplan = page;
    document.documentElement.dataset.ready = "";
    performance.mark("ready");
  } catch (fault) {
    problem.hidden = false;
    problem.textContent = `The pictures cannot be drawn in this browser: ${fault.message}`;
    throw fault;
  }
}

start();
