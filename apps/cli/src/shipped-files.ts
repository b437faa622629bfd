import { fileURLToPath } from 'node:url';

const inCheckout = import.meta.url.endsWith('.ts');

/** A folder that is read at run time: where it is written in a checkout, beside the program in a bundle (tools/bundle.ts). */
const shipped = (inSource: string, inBundle: string): string =>
  fileURLToPath(new URL(inCheckout ? inSource : inBundle, import.meta.url));

/** The files of the pages: in a checkout, where `node tools/portal.ts` builds them. */
export const PORTAL_FOLDER = shipped('../../portal/dist', './portal');
/** The built documentation: in a checkout, where `node tools/portal.ts` builds it. */
export const DOCS_FOLDER = shipped('../../portal/docs-dist', './docs');
/** The configuration folder of the demo workspace. */
export const DEMO_FOLDER = shipped('../../../docs/examples/demo', './demo');
/** Folder of Node's compile cache. It may be deleted; entries that no longer fit their source are ignored. */
export const COMPILED_FOLDER = shipped('../../../.cache/compiled', './.cache/compiled');
