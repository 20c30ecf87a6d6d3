/** The page of the documentation: Swagger UI, and what it lacks for people who do not see or point. */

// All paths are relative, so that the page works under any mount prefix.
export const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>graph-serve API</title>
<link rel="icon" href="./favicon-32x32.png">
<link rel="stylesheet" href="./swagger-ui.css">
<link rel="stylesheet" href="./page.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="./swagger-ui-bundle.js"></script>
<script type="module" src="./page.js"></script>
</body>
</html>
`;

/** Colours that can be told from their ground. */
export const STYLE = `
body { margin: 0; }
.swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none; }
.swagger-ui .info .title small { background: #5b6270; }
.swagger-ui .info .title small.version-stamp { background: #4c6b02; }
.swagger-ui a, .swagger-ui .info a, .swagger-ui .info hgroup.main a,
.swagger-ui .info .base-url, .swagger-ui .info .url { color: #1f5fb8; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1b62b5; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #14733f; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #96540a; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0c6f62; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #bf1d1d; }
.swagger-ui .btn.authorize { color: #14733f; border-color: #14733f; }
.swagger-ui .btn.authorize svg { fill: #14733f; }
.swagger-ui .btn.cancel { color: #bf1d1d; border-color: #bf1d1d; }
.swagger-ui .btn.execute { background: #1b62b5; border-color: #1b62b5; }
.swagger-ui .download-contents { background: #5b6270; }
.swagger-ui .parameter__in, .swagger-ui .parameter__type, .swagger-ui .prop-format { color: #5b5b5b; }
.swagger-ui .json-schema-2020-12-expand-deep-button { color: #5b5b5b; }
@media (prefers-reduced-motion: reduce) {
  .swagger-ui * { transition: none !important; animation: none !important; }
}
`;

export const SCRIPT = `
// A button may not hold a link, nor another button.
const withoutNesting = ({ React }) => ({
  components: {
    DeepLink: ({ text }) => React.createElement("span", null, text),
    CopyToClipboardBtn: () => null,
    // There is one: this server.
    ServersContainer: () => null,
  },
});

SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [withoutNesting],
});

const page = document.getElementById("swagger-ui");
const each = (selector, mend) => page.querySelectorAll(selector).forEach(mend);
const name = (element, text) => element.setAttribute("aria-label", text);

// Names and levels that are missing from what has been drawn; what has them already is left alone.
function mend() {
  each("h3:not([aria-level])", (heading) => heading.setAttribute("aria-level", "2"));
  each("h4:not([aria-level])", (heading) => heading.setAttribute("aria-level", "3"));
  each("h5:not([aria-level])", (heading) => heading.setAttribute("aria-level", "4"));
  each("tr[data-param-name] :is(select, input, textarea):not([aria-label])", (field) =>
    name(field, field.closest("tr").dataset.paramName));
  each(".body-param__text:not([aria-label])", (field) => name(field, "Request body"));
  each(".responses-table[role=region]:not([aria-label])", (table) => name(table, "Answers: " + table.id));
  each(".information-container:not([role])", (head) => head.setAttribute("role", "banner"));
  each("pre:not(.version, [tabindex])", (code) => (code.tabIndex = 0));
  each(".close-modal:not([aria-label])", (button) => name(button, "Close"));
  each(".dialog-ux:not([role])", (dialog) => {
    dialog.setAttribute("role", "dialog");
    name(dialog, "Authorization");
  });
  // What stands on them says more, or they have none to say it of.
  each(".modal-btn[aria-label], div.copy-to-clipboard[aria-label]", (each) => each.removeAttribute("aria-label"));
}
new MutationObserver(mend).observe(page, { childList: true, subtree: true });
`;
