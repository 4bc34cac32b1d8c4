/**
 * The style of all pages. Sections are pages: nothing in one moves another, and nothing leaves it. Letters are not joined where
 * no script needs it: in German words that would often be wrong, and copied texts fall into pieces.
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
