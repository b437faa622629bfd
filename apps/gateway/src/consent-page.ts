import { createHash } from 'node:crypto';
import type { ChannelName } from '@carillon/domain/channels';
import type { Configuration } from '@carillon/domain/configuration';
import {
  boxOf,
  isAllStopped,
  isWanted,
  nameOfTarget,
  oneClick,
  workspaceTitle,
  type ConsentLink,
  type Consents,
  type Offer,
} from '@carillon/domain/consent';

/** Colours hold 4.5 to 1 and more in both themes; nothing is smaller than what a finger hits. */
const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #57606a; --line: #8c959f; --act: #0550ae; --on: #ffffff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9da7b3; --line: #6e7681; --act: #79c0ff; --on: #0d1117 } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 36rem; background: var(--paper); color: var(--ink); font: 1.0625rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem }
fieldset { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1rem; padding: .5rem 1rem }
legend { font-weight: 600; padding: 0 .25rem }
fieldset .note { margin: 0 }
label { display: flex; gap: .75rem; align-items: center; min-height: 2.75rem }
input[type=checkbox] { width: 1.375rem; height: 1.375rem; flex: none; accent-color: var(--act) }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: .5rem 1.25rem; border-radius: .5rem; border: 1px solid var(--act); background: var(--act); color: var(--on); cursor: pointer }
button.plain { background: transparent; color: var(--act) }
a { color: var(--act) }
:focus-visible { outline: 3px solid var(--act); outline-offset: 3px }
.note { color: var(--soft) }
.said { border-left: .25rem solid var(--act); padding: .25rem 0 .25rem .75rem }
`;

/** No scripts, no connections, no external resources. The only style is allowed by its hash. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store',
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const html = (text: string): string => text.replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);

const CHANNEL_WORDS: Readonly<Record<string, string>> = { sms: 'SMS', push: 'Push on your device' };
const channelWords = (channel: ChannelName): string =>
  CHANNEL_WORDS[channel] ?? channel.charAt(0).toUpperCase() + channel.slice(1);

const frame = (title: string, body: string): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${html(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${html(title)}</h1>
${body}
</main></body></html>
`;

const TEST = '<p class="said">This link belongs to a test message. Your choices here change nothing.</p>\n';
const testNote = ({ test }: ConsentLink): string => (test ? TEST : '');

/**
 * Returns what a link stops, as text. A notification is described only by its workspace, because its name may be
 * confidential.
 */
const kindWords = (link: ConsentLink, offers: readonly Offer[]): string => {
  const { target } = oneClick(link);
  const name = nameOfTarget(target);
  const isIt = ({ target: offered, was }: Offer): boolean =>
    offered.kind === target.kind && (offered.name === name || was.includes(name));
  const title = offers.find(isIt)?.title;
  return title === undefined ? 'such messages' : `“${title}”`;
};

export type PageFacts = {
  readonly link: ConsentLink;
  readonly token: string;
  readonly configuration: Configuration;
  readonly offers: readonly Offer[];
  readonly documents: readonly Consents[];
};

/** Before anything was decided: what a person meets who followed the link, and every scanner that follows links. */
export const askPage = ({ link, token, configuration, offers }: PageFacts): string => {
  const shop = workspaceTitle(configuration, link.workspace);
  return frame(
    'Stop these messages?',
    `${testNote(link)}<p>You will get no more ${html(kindWords(link, offers))} from ${html(shop)} by ${html(channelWords(link.channel))}.</p>
<form method="post"><button>Stop them</button></form>
<p><a href="../preferences/${token}">Choose what you get instead</a></p>`,
  );
};

export const stoppedPage = ({ link, token, configuration, offers }: PageFacts): string => {
  const shop = workspaceTitle(configuration, link.workspace);
  return frame(
    link.test ? 'Nothing was changed' : 'You will not get these any more',
    `${testNote(link)}<p class="said">${link.test ? 'A click in a real message stops' : 'Stopped:'} ${html(kindWords(link, offers))} from ${html(shop)} by ${html(channelWords(link.channel))}.</p>
<p class="note">A message that is on its way now may still arrive.</p>
<p><a href="../preferences/${token}">Choose what you get, or take this back</a></p>`,
  );
};

export const preferencesPage = ({ link, configuration, offers, documents }: PageFacts, saved: boolean): string => {
  const shop = workspaceTitle(configuration, link.workspace);
  const stopped = isAllStopped(documents);
  const said = saved && !link.test ? '<p class="said" role="status">Saved.</p>\n' : '';
  const all = stopped
    ? `<p class="said">You stopped everything that can be stopped.</p>
<form method="post"><input type="hidden" name="do" value="allow"><button>Get messages again</button></form>`
    : `<form method="post"><input type="hidden" name="do" value="stop"><button class="plain">Stop everything</button></form>`;
  const boxes = offers.map((offer) => fieldset(offer, documents)).join('\n');
  const choices =
    stopped || offers.length === 0
      ? ''
      : `<form method="post"><input type="hidden" name="do" value="save">
${boxes}
<button>Save</button></form>
<p class="note">You get the messages that are checked.</p>
`;
  return frame(
    `What you get from ${shop}`,
    `${said}${testNote(link)}${choices}${all}
<p class="note">Messages you need, such as a password reset, are always sent.</p>`,
  );
};

function fieldset(offer: Offer, documents: readonly Consents[]): string {
  const lines = offer.channels.map((channel) => {
    const box = html(boxOf(offer, channel));
    const checked = isWanted(documents, offer, channel) ? ' checked' : '';
    return `<input type="hidden" name="shown" value="${box}"><label><input type="checkbox" name="want" value="${box}"${checked}>${html(channelWords(channel))}</label>`;
  });
  const words = offer.description === null ? '' : `<p class="note">${html(offer.description)}</p>`;
  return `<fieldset><legend>${html(offer.title)}</legend>${words}${lines.join('')}</fieldset>`;
}

/** Returns the same page for every invalid link, so that nobody learns why. */
export const unknownPage = (): string =>
  frame(
    'This link does not work',
    `<p>It may have been cut off when it was copied. Open it from the message itself, or answer to the message.</p>`,
  );

export const troublePage = (): string =>
  frame('Not saved', '<p>It could not be saved just now. Please try again in a minute.</p>');

export const tooManyPage = (): string => frame('Too many tries', '<p>Please try again in a minute.</p>');
