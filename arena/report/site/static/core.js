// What the other scripts of the pages use. All text is set as text, never as markup.
"use strict";

const DRAWN = ["svg", "g", "use", "rect", "path", "text"];

// An element of HTML or, of these names, of SVG.
function element(name, attributes = {}, ...children) {
  const space = DRAWN.includes(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// An image of a text that is SVG: as an image it runs nothing and loads nothing.
function svgAddress(svg) {
  return "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
}

// A text with values in place of their names in braces.
function fill(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// What the address says behind its #, by name.
function asked() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function load(script) {
  return new Promise((resolve, reject) => {
    const made = element("script", { src: script });
    made.onload = resolve;
    made.onerror = () => reject(new Error(script));
    document.head.append(made);
  });
}
