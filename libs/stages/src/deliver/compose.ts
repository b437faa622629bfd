import { canonicalAddress, type AccountBody, type Delivery } from '@carillon/domain';
import { CONTROL, err, ok, type Result } from '@carillon/kernel';
import type { Rendered, RenderedEmail } from '@carillon/ports';

/** Who sends where nobody said: the sandbox shows it, no provider ever sees it. */
const SANDBOX_FROM = 'Carillon <carillon@sandbox.invalid>';

const EVERY_CONTROL = new RegExp(CONTROL, 'g');

/** `Name <address>` or an address alone. */
export function parseMailbox(text: string): Result<{ name: string; address: string }, string> {
  const clean = text.replaceAll(EVERY_CONTROL, '').trim();
  const parts = /^(?:"?([^"<>]*?)"?\s*)<([^<>\s]+@[^<>\s]+)>$/.exec(clean);
  if (parts) return ok({ name: parts[1]?.trim() ?? '', address: parts[2] ?? '' });
  return /^[^<>\s]+@[^<>\s]+$/.test(clean) ? ok({ name: '', address: clean }) : err('expected `Name <address>`');
}

/** The message as it goes to the provider. Its id comes from delivery and attempts so far, for later evidence. */
export function composeEmail(
  delivery: Delivery,
  rendered: Extract<Rendered, { ok: true }>,
  account: AccountBody,
): Result<RenderedEmail, string> {
  const from = parseMailbox(rendered.from ?? account.from ?? SANDBOX_FROM);
  if (!from.ok) return err(`from: ${from.error}`);
  // Intents of earlier versions carry the address as it was written.
  const to = canonicalAddress('email', delivery.intent.to ?? '');
  if (to === null) return err('the recipient is not an email address');
  const domain = from.value.address.split('@').at(-1) ?? 'carillon.invalid';
  return ok({
    channel: 'email',
    to,
    from: from.value,
    subject: rendered.subject,
    html: rendered.html,
    text: rendered.text,
    messageId: `<${delivery.id}.${delivery.attempts.length + 1}@${domain}>`,
  });
}
