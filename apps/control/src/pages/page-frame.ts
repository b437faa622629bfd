import { html, type Markup } from './markup.ts';

/** A page that the server writes itself, in the look of the others. Scripts and styles are files of ours, never inline. */
export const pageFrame = (title: string, main: Markup, scripts: readonly string[] = []): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Carillon</title>
        <link rel="icon" href="/assets/icon.svg" />
        <link rel="stylesheet" href="/assets/style.css" />
        <link rel="stylesheet" href="/assets/detail.css" />
        <link rel="stylesheet" href="/assets/reference.css" />
        ${scripts.map((path) => html`<script src="${path}" defer></script>`)}
      </head>
      <body class="paper">
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/deliveries"><img src="/assets/icon.svg" alt="" />Carillon</a>
          <nav aria-label="Pages">
            <a href="/deliveries">Deliveries</a><a href="/inbox">Inbox</a><a href="/docs">Documentation</a>
            <a href="/docs/api">API</a>
          </nav>
        </header>
        <main id="main" tabindex="-1">${main}</main>
      </body>
    </html> `.markup;

/** The page at an address that nobody serves. */
export const unknownPage = (): string =>
  pageFrame(
    'Not found',
    html`<h1>There is no page at this address</h1>
      <p>Look at its end for a letter too many or too few. An old link may name a page that has gone.</p>
      <p>
        <a href="/deliveries">Deliveries</a>, <a href="/inbox">Inbox</a>, <a href="/docs">Documentation</a>,
        <a href="/docs/api">API reference</a>
      </p>`,
  );

/** The page of a checkout whose portal nobody has built. */
export const unbuiltPage = (): string =>
  pageFrame(
    'Not built',
    html`<h1>The pages of the portal are not built yet</h1>
      <p>
        Run <code>npm run portal</code> in the checkout and start Carillon again; <code>npm start</code> does both. The
        management API and the command line do not need them.
      </p>`,
  );
