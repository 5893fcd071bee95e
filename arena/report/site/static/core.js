// What the other scripts of the pages use: elements, texts, and data that is loaded. All text is set as text, never as
// markup.
"use strict";

function element(name, classes = "", ...children) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  made.append(...children);
  return made;
}

function svgElement(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// An image of a text that is SVG: as an image it runs nothing and loads nothing.
function svgAddress(svg) {
  return "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
}

// A text with values in place of their names in braces.
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

function clockText(ms) {
  const left = Math.max(0, ms), seconds = Math.floor(left / 1000);
  return left < 10_000 ? (left / 1000).toFixed(1) : Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
}

// What the address says behind its #, by name.
function asked() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function load(script) {
  return new Promise((resolve, reject) => {
    const made = element("script");
    made.src = script;
    made.onload = resolve;
    made.onerror = () => reject(new Error(script));
    document.head.append(made);
  });
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
