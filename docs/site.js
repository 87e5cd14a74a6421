// The lab does not run in a page that is opened as a file. There, a note replaces its frames.
if (location.protocol === "file:") {
  const code = (text) => Object.assign(document.createElement("code"), { textContent: text });
  for (const frame of document.querySelectorAll("iframe.lab")) {
    const note = document.createElement("blockquote");
    note.append(
      "An experiment of the lab runs here if a web server delivers this page, for example ",
      code("python3 -m http.server"),
      " in the folder of the site. ",
      code("bbrlab lab"),
      " shows the same experiment without the site.",
    );
    frame.replaceWith(note);
  }
}
