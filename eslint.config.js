import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      "dist/**",
      "node_modules/**",
      "coverage/**",
      "templates/**/node_modules/**",
      "test/fixtures/broken/**",
      "test/fixtures/projects/**",
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { arguments: false } }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/require-await": "off",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-console": "error",
    },
  },
  {
    files: ["src/**", "studio/**"],
    rules: { "max-lines-per-function": ["error", { max: 60, skipComments: true }] },
  },
  {
    files: ["src/**"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          paths: [
            {
              name: "@commander-js/extra-typings",
              allowTypeImports: true,
              message: "Users do not have it: import values from src/cli/commander.ts.",
            },
          ],
        },
      ],
    },
  },
  {
    // What is shown comes from models and tools: it is text, whatever it looks like.
    files: ["studio/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML|srcdoc|setHTMLUnsafe|parseFromString|createContextualFragment)$/]",
          message: "Markup is never made of data: make elements.",
        },
        {
          selector: "JSXAttribute[name.name=/^(dangerouslySetInnerHTML|srcdoc)$/]",
          message: "Markup is never made of data: make elements.",
        },
      ],
      "no-restricted-globals": ["error", "localStorage", "eval"],
    },
  },
  // Of the reader's wishes, only the colours and the prices of tokens outlast a tab.
  { files: ["studio/theme.ts", "studio/state/prices.ts"], rules: { "no-restricted-globals": "off" } },
  { files: ["**/*.js", "**/*.mjs", "**/*.cjs"], extends: [tseslint.configs.disableTypeChecked] },
);
