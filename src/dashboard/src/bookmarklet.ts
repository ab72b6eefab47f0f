// Bookmarks that remember the page on which they are pressed: `javascript:` addresses.

const PARTS = `const s=String(getSelection()).trim(),p=document.title+"\\n"+location.href,c=s?s+"\\n\\n"+p:p;`;

/** Opens this dashboard in a small window with the text written; the page learns no token. */
export function inWindow(address: string): string {
  return bookmark(`${PARTS}${opening(address)}`);
}

/** Stores at once, from the page itself; where the page forbids that, opens the window. */
export function atOnce(address: string, token: string, words: { stored: string; known: string }): string {
  const asked = `fetch(${quoted(`${address}/capture`)},{method:"POST",headers:{Authorization:${quoted(`Bearer ${token}`)},"Content-Type":"application/json"},body:JSON.stringify({content:c,source:"browser",tags:["reading"]})})`;
  const said = `alert(a.ok?${quoted(words.stored)}:a.duplicate?${quoted(words.known)}:a.error)`;
  return bookmark(`${PARTS}${asked}.then(r=>r.json()).then(a=>${said},()=>{${opening(address)}})`);
}

function opening(address: string): string {
  const target = `${quoted(`${address}/#/remember?`)}+new URLSearchParams({text:c+"\\n\\n#reading"})`;
  return `open(${target},"_blank","width=680,height=760")`;
}

const quoted = (text: string): string => JSON.stringify(text);
const bookmark = (code: string): string => `javascript:${encodeURIComponent(`(()=>{${code}})()`)}`;
