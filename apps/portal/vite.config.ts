import locales from '@react-aria/optimize-locales-plugin';
import { relative, resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

/** The same address as `npm start` prints. */
const CONTROL = process.env['CARILLON_CONTROL_URL'] ?? 'http://127.0.0.1:7401';

/**
 * Modules that at least this many screens and late parts import form one file. Measured: at 25 a page loads 14 scripts on
 * average, at 45 it loads 20, and at 15 it loads 11 scripts and 4 kB more.
 */
const SCREENS_THAT_SHARE = 25;

const ROOT = resolve(import.meta.dirname, '../..');

/** Writes down whose code and fonts are in the build, for the licences that a release carries. */
const namePackages: Plugin = {
  name: 'name-packages',
  generateBundle(_options, bundle) {
    const files = Object.values(bundle).flatMap((one) =>
      one.type === 'chunk' ? one.moduleIds : one.originalFileNames.map((name) => resolve(import.meta.dirname, name)),
    );
    const folders = files.flatMap((file) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
    const source = JSON.stringify([...new Set(folders)].map((folder) => relative(ROOT, folder)).toSorted(), null, 2);
    this.emitFile({ type: 'asset', fileName: 'packages.json', source });
  },
};

/**
 * `npx vite apps/portal` shows the sources as they are edited, with the data of a Carillon that runs already. The build is made
 * by `tools/portal.ts`.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  // The texts of React Aria in languages that the portal does not have would be half of it.
  plugins: [{ ...locales.vite({ locales: ['en-US'] }), enforce: 'pre' }, namePackages],
  build: {
    outDir: 'dist',
    // Chromium 123, Firefox 120 and Safari 17.5 know `light-dark()`.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // A file that is part of another as `data:` is refused by the policy, and fonts have a budget of their own.
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Where a component runs on a server is no question here.
      onLog(level, log, write) {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') write(level, log);
      },
      output: {
        codeSplitting: {
          groups: [
            // Every page loads these modules. Without groups the bundler makes a file of each set of screens that share modules,
            // and a page loads 42 scripts and 9 kB more.
            { name: 'start', tags: ['$initial'], priority: 2 },
            { name: 'shared', minShareCount: SCREENS_THAT_SHARE, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/v1': CONTROL, '/inbox/messages': CONTROL, '/messages': CONTROL } },
});
