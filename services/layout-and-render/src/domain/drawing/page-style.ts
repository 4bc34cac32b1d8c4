/**
 * The style of all pages. A section is a page, isolated from the others. Ligatures are off where no script needs them:
 * in German words they are often wrong, and they break copied text.
 */
export const pageStyle = `
html,body{margin:0;padding:0}
section{position:relative;overflow:hidden;contain:strict;break-after:page;break-inside:avoid}
section:last-of-type{break-after:auto}
section *{margin:0;padding:0}
.x,.b,.i,.m,.q{position:absolute;display:block}
.b{display:flex;flex-direction:column}
.t{flex:none;position:relative}
.x,.b{font-family:"Open Sans";text-rendering:geometricPrecision;font-synthesis:weight style;font-variant-ligatures:no-common-ligatures;white-space:normal;overflow-wrap:anywhere;word-break:normal;hyphens:manual;text-size-adjust:none}
.n{overflow-wrap:normal}
.x p,.t p{display:block;unicode-bidi:isolate}
.i{background-repeat:no-repeat;background-position:center;background-size:contain}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
`;
