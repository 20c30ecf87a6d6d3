import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    exclude: ["**/node_modules/**", "test/fixtures/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    // The official validation suite declares its cases with global describe and it.
    globals: true,
  },
});
