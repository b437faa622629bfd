import { composeMessage } from '../../src/channels/index.ts';
import { describe, expect, it } from 'vitest';

const htmlOf = (html: string, preheader?: string): string | null => {
  const parts = { subject: 'Paid', html, text: 'Thanks', ...(preheader !== undefined && { preheader }) };
  const addressed = { deliveryId: 'dlv_1', attempt: 1, channel: 'email', to: 'ada@example.com' } as const;
  const composed = composeMessage(addressed, { parts, settings: {} }, { from: 'shop@example.com' });
  if (!composed.ok || composed.value.channel !== 'email') throw new Error('an email');
  expect(composed.value.text).toBe('Thanks');
  return composed.value.html;
};
/** Returns the HTML before the hidden line. */
const before = (html: string): string => htmlOf(html, 'Soon')?.split('<div style="display:none')[0] ?? '';

describe('the preheader (preview text) of an email', () => {
  it('is hidden at the beginning of the body', () => {
    expect(htmlOf('<p>Thanks</p>', 'It leaves us today')).toMatch(
      /^<div style="display:none;[^"]*mso-hide:all">It leaves us today(?:&#847;&zwnj;&nbsp;)+<\/div><p>Thanks<\/p>$/,
    );
    for (const head of [
      '<!doctype html><html lang="en"><head><title>a</title></head><body class="a>b">',
      '<HTML><BODY>',
      "<!-- <body> --><html><body style='x'>",
      '<!doctype html><html><head></head>',
      '<!doctype html>',
      '',
    ]) {
      expect(before(`${head}<p>Thanks</p></body></html>`), head).toBe(head);
    }
  });

  it('changes nothing if it is missing or was rendered empty', () => {
    expect(htmlOf('<p>Thanks</p>')).toBe('<p>Thanks</p>');
    expect(htmlOf('<p>Thanks</p>', '  ')).toBe('<p>Thanks</p>');
  });

  it('is inserted as text, never as HTML', () => {
    expect(htmlOf('', '<script>"&amp;"</script>')).toContain(
      '>&lt;script&gt;&quot;&amp;amp;&quot;&lt;/script&gt;&#847;',
    );
  });

  it('is inserted in one pass, however hostile the HTML', () => {
    for (const piece of ['<body ', '<!--', '<', '<body x="', "<head>'"]) htmlOf(piece.repeat(50_000), 'Soon');
  });
});
