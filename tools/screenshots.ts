/** `npm run screenshots`: takes the pictures in docs/images anew, from the product as it runs. Needs Chromium. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { PROGRAMS } from '../test/support/programs.ts';
import { buildPortal } from './portal.ts';

const root = resolve(import.meta.dirname, '..');
const images = join(root, 'docs/images');
const VIEW = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const MAX_BYTES = 200_000;
const STARTS_WITHIN = 120_000;
const WHOLE_WITHIN = 120_000;

/** The ports that a reader will see at their own first start; 0 would put chance into the pictures. */
const PORTS = ['--gateway-port', '7400', '--control-port', '7401'];

/** The screens of the portal, loaded by name: their types need those of a browser. */
const LIST = join(root, 'apps/portal/src/screens/list.ts');
const { SCREENS } = (await import(LIST)) as { readonly SCREENS: readonly { readonly path: string }[] };

/** Returns the address of a screen of the list in the example workspace, with these names in it. */
function addressOf(path: string, names: Readonly<Record<string, string>> = {}): string {
  if (!SCREENS.some((screen) => screen.path === path)) throw new Error(`the portal has no screen ${path}`);
  return path.replaceAll(/\$(\w+)/g, (_, name: string) => ({ w: 'shop', ...names })[name] ?? '');
}

/** What the first start prints, once it is there. */
function firstScreen(child: ChildProcess): Promise<string> {
  return new Promise((settle, fail) => {
    let printed = '';
    let complaints = '';
    const late = setTimeout(() => fail(new Error(`it did not start: ${complaints}`)), STARTS_WITHIN);
    child.once('exit', () => fail(new Error(`it did not start: ${complaints}`)));
    child.stderr?.on('data', (chunk: Buffer) => void (complaints += chunk.toString()));
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (!/Then look: .*\n/.test(printed)) return;
      clearTimeout(late);
      settle(printed);
    });
  });
}

const found = (text: string, pattern: RegExp): string => {
  const [, part] = pattern.exec(text) ?? [];
  if (part === undefined) throw new Error(`the first screen no longer has ${pattern.source}`);
  return part;
};

/** Nothing on the page loads any more, and its letters are there. */
const IS_WHOLE = `document.fonts.status === 'loaded' && !document.querySelector('[role="status"][aria-label^="Loading"]')`;

async function save(page: Page, name: string): Promise<void> {
  const path = join(images, name);
  // The pages refuse to evaluate a text, which is how the browser would wait by itself.
  const until = Date.now() + WHOLE_WITHIN;
  while (!(await page.evaluate<boolean>(IS_WHOLE))) {
    if (Date.now() > until) throw new Error(`${name} still loads`);
    await page.waitForTimeout(50);
  }
  await page.screenshot({ path });
  const { size } = await stat(path);
  console.log(`docs/images/${name}: ${Math.ceil(size / 1024)} KiB`);
  if (size > MAX_BYTES) throw new Error(`${name} is larger than ${MAX_BYTES} bytes`);
}

async function inBothThemes(page: Page, name: string): Promise<void> {
  await save(page, `${name}.png`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await save(page, `${name}-dark.png`);
  await page.emulateMedia({ colorScheme: 'light' });
}

const ORDERS = [
  { order_id: 'A-1001', status: 'paid', total: 120, customer: { name: 'Ada', email: 'ada@example.com' } },
  { order_id: 'A-1002', status: 'paid', total: 349, customer: { name: 'Grace', email: 'grace@example.com' } },
  { order_id: 'A-1003', status: 'paid', total: 215, customer: { name: 'Linus' } },
  { order_id: 'A-1004', status: 'paid', total: 180, customer: { name: 'Edsger', email: 'edsger@example.com' } },
  { order_id: 'A-1001', status: 'paid', total: 125, customer: { name: 'Ada', email: 'ada@example.com' } },
];
/** What fires nothing, and why, is the story to show. */
const SMALL = {
  order_id: 'A-1005',
  status: 'paid',
  total: 40,
  customer: { name: 'Barbara', email: 'barbara@example.com' },
};
/** Twice the same order, so that the pictures show a duplicate too. */
const UNIQUE = { before: 'unique_id: event_id', after: 'unique_id: event.order_id' };

/** Sends the events; answers the id of the one that fires nothing. */
async function fill(folder: string, gateway: string, control: string, key: string): Promise<string> {
  const token = (await readFile(join(folder, 'carillon-data/owner-token'), 'utf8')).trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const exported = await fetch(`${control}/v1/configuration/export`, { headers });
  const { files } = (await exported.json()) as { files: Record<string, string> };
  const name = 'workspaces/shop/notifications/order-paid.yaml';
  const text = (await readFile(join(folder, 'carillon-demo', name), 'utf8')).replace(UNIQUE.before, UNIQUE.after);
  if (!text.includes(UNIQUE.after)) throw new Error(`${name} no longer has ${UNIQUE.before}`);
  const body = JSON.stringify({ files: { ...files, [name]: text } });
  const applied = await fetch(`${control}/v1/configuration/apply`, { method: 'POST', headers, body });
  if (!applied.ok) throw new Error(await applied.text());
  let last = '';
  for (const order of [...ORDERS, SMALL]) {
    const answer = await fetch(`${gateway}/events/shop/orders`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${key}` },
      body: JSON.stringify(order),
    });
    if (!answer.ok) throw new Error(await answer.text());
    last = ((await answer.json()) as { id: string }).id;
  }
  return last;
}

async function takePictures(browser: Browser, folder: string, screen: string): Promise<void> {
  const control = found(screen, /Portal +(\S+)/);
  const gateway = found(screen, /Events +(\S+)\/events/);
  const key = found(screen, /API key +(\S+)/);
  const word = found(screen, /welcome#(\S+)/);
  const context = await browser.newContext({ viewport: VIEW, locale: 'en-GB' });
  context.setDefaultTimeout(WHOLE_WITHIN);
  const page = await context.newPage();
  await page.goto(`${control}${addressOf('/welcome')}#${word}`);
  await page.waitForURL(`${control}/workspaces/**`);
  await page.goto(control + addressOf('/workspaces/$w'));
  await page.getByRole('button', { name: 'Send it now' }).waitFor();
  // The bar that asks for a password.
  await page.getByRole('button', { name: 'Close' }).click();
  await page.mouse.move(640, 790);
  await save(page, 'guide.png');
  await page.getByRole('button', { name: 'Send it now' }).click();
  await page.getByRole('region', { name: 'Your message' }).locator('[data-state="SENT"]').waitFor();
  await page.getByRole('region', { name: 'Your message' }).getByRole('heading').waitFor();
  await page
    .getByText(/^1 message in 24 hours/)
    .first()
    .waitFor();
  await save(page, 'first-message.png');
  // The later pictures show the overview without its guide.
  await page.getByRole('region', { name: 'Your message' }).getByRole('button', { name: 'Done' }).click();
  await page.getByText('See where messages arrive').click();
  await page.waitForURL(`${control}${addressOf('/workspaces/$w/inbox')}**`);

  await page.goto(control + addressOf('/workspaces/$w/notifications/$n/rules/$r', { n: 'order-paid', r: 'paid' }));
  await page
    .getByRole('combobox', { name: 'Event' })
    .locator('option', { hasText: 'A-1001' })
    .waitFor({ state: 'attached' });
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.getByText(/^Fires[:,]/).waitFor();
  await page.getByText('Hello Ada,').waitFor();
  // A click brings into sight what it clicks, and on a slow machine the page is not whole by then.
  await page.evaluate('scrollTo(0, 0), document.querySelector("main").scrollTo(0, 0)');
  await inBothThemes(page, 'rule');
  await page.goto(control + addressOf('/workspaces/$w/templates/$t', { t: 'order-paid' }));
  await page.frameLocator('iframe').getByText('Thank you, Ada!').waitFor();
  await save(page, 'template.png');
  await page.goto(`${control}${addressOf('/workspaces')}?test=shop`);
  await page.getByRole('dialog').getByRole('button', { name: 'Make the test environment' }).waitFor();
  await save(page, 'test-environment.png');

  const silent = await fill(folder, gateway, control, key);
  await page.goto(control + addressOf('/workspaces/$w/deliveries'));
  await page.locator('main [data-state="WAITING"], main [data-state="SENDING"]').first().waitFor({ state: 'detached' });
  await page.locator('main [data-key]', { hasText: 'grace@' }).click();
  await page.getByRole('heading', { name: 'Journey' }).waitFor();
  await page.mouse.move(640, 790);
  await save(page, 'deliveries.png');

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.keyboard.press('Control+k');
  await page.getByLabel('Screen, action, name, or an id').fill(silent);
  await page.keyboard.press('Enter');
  await page.getByText('did not fire: ').waitFor();
  await save(page, 'deliveries-dark.png');

  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(PHONE);
  await page.goto(control + addressOf('/workspaces/$w'));
  await page
    .getByText(/messages in 24 hours to/)
    .first()
    .waitFor();
  await save(page, 'overview-phone.png');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(control + addressOf('/workspaces/$w/deliveries'));
  await page.locator('main [data-key]').first().waitFor();
  // The bars come after the rows.
  await page.getByText(/^[1-9]\d* created in 24 hours/).waitFor();
  await save(page, 'deliveries-phone-dark.png');
}

async function main(): Promise<void> {
  await buildPortal({ say: (words) => void process.stderr.write(`${words}\n`) });
  const folder = await mkdtemp(join(tmpdir(), 'carillon-screenshots-'));
  const program = join(root, 'apps/cli/src/main.ts');
  const child = spawn(process.execPath, [program, 'up', '--demo', ...PORTS], {
    cwd: folder,
    env: { NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const browser = await chromium.launch({
    executablePath: PROGRAMS.chromium.path,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
  try {
    await mkdir(images, { recursive: true });
    await takePictures(browser, folder, await firstScreen(child));
  } finally {
    await browser.close();
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
