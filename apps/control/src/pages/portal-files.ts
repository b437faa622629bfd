import { readStaticFiles, type StaticFile } from '@carillon/runtime';

export type PortalFiles = {
  /** With `CARILLON_NONCE` where the nonce of an answer goes; null: the portal is not built. */
  readonly index: string | null;
  /** Names are below `/assets/`. */
  readonly assets: readonly StaticFile[];
};

/** Reads the files of the portal that a browser may ask for. */
export function readPortal(folder: string): PortalFiles {
  const files = readStaticFiles(folder);
  const index = files.find(({ name }) => name === 'index.html');
  const assets = files.flatMap((file) =>
    file.name.startsWith('assets/') ? [{ ...file, name: file.name.slice('assets/'.length) }] : [],
  );
  return { index: index?.bytes.toString('utf8') ?? null, assets };
}
