import type { Page } from 'playwright-core';

/** The part of the portal's router that a move needs. TanStack Router writes it into the global of this name. */
type Router = {
  navigate(options: { readonly href: string }): Promise<void>;
  subscribe(event: 'onResolved', listener: () => void): () => void;
};
type PortalWindow = { readonly __TSR_ROUTER__?: Router; readonly location: { readonly href: string } };

/**
 * Goes to an address of the portal as a link does. The page keeps its scripts and what it has read, which costs a fifth of
 * the processor time of loading it again. Loads a page that does not show the portal yet, or shows this address.
 */
export async function moveTo(page: Page, url: string): Promise<void> {
  const { pathname, search, hash, origin } = new URL(url);
  const isMoved = new URL(page.url()).origin === origin && (await page.evaluate(move, pathname + search + hash));
  if (!isMoved) await page.goto(url);
}

/** Runs in the page. Resolves once the screen at the address is drawn; to false if the page cannot move there. */
async function move(href: string): Promise<boolean> {
  const { __TSR_ROUTER__: router, location } = globalThis as unknown as PortalWindow;
  if (router === undefined || location.href.endsWith(href)) return false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = router.subscribe('onResolved', resolve);
  await router.navigate({ href });
  await promise;
  stop();
  return true;
}
