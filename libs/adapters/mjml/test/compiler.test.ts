import { afterAll, describe, expect, test } from 'vitest';
import { createMjmlCompiler } from '../src/index.ts';
import { lostTag, unclosedTag } from '../src/tags.ts';

const stops: string[] = [];
const compiler = createMjmlCompiler({ onStopped: (message) => void stops.push(message) });
afterAll(() => compiler.close());

const mail = (inside: string): string => `<mjml>\n<mj-body>\n${inside}\n</mj-body>\n</mjml>\n`;
const column = (inside: string): string => `<mj-section><mj-column>${inside}</mj-column></mj-section>`;
const html = async (source: string): Promise<string> => {
  const result = await compiler.compile(source);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.html;
};
const told = async (source: string): Promise<string[]> => {
  const result = await compiler.compile(source);
  return result.ok ? [] : result.faults.map(({ line, column: at, message, fix }) => `${line}:${at} ${message}; ${fix}`);
};

describe('the MJML compiler (makes HTML of mail sources)', () => {
  test('makes a complete HTML page with template tags unchanged', async () => {
    const source = `<mjml><mj-head><mj-title>Order {{order_id}}</mj-title><mj-style>.a > b { color: {{colour}} }</mj-style></mj-head>
<mj-body>
  <mj-raw>{{#each items}}</mj-raw>
  <mj-section><mj-column>
    <mj-text font-size="{{size}}px">{{name}} {{#if (gt qty 1)}}× {{qty}}{{else}}once{{/if}} {{currency price "EUR"}}<br>&nbsp;</mj-text>
    <mj-button href="{{url link}}">{{default label 'Open'}}</mj-button>
    <mj-image src="https://shop.example/{{sku}}.png" />
  </mj-column></mj-section>
  <mj-raw>{{/each}}</mj-raw>
  {{!-- nobody reads this --}}
</mj-body></mjml>`;
    const made = await html(source);
    expect(made).toMatch(/^\s*<!doctype html>[\s\S]*<\/html>\s*$/);
    for (const [tag] of source.matchAll(/\{\{(?!!)[^}]*\}\}/g)) expect(made).toContain(tag);
    expect(made).not.toContain('<mj-');
  });

  test('adds no external resources that the author did not name', async () => {
    expect(await html(mail(column('<mj-text>a</mj-text>')))).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
    const named = '<mj-head><mj-font name="Own" href="https://shop.example/own.css" /></mj-head>';
    const own = column('<mj-text font-family="Own, Arial">a</mj-text>');
    expect(await html(mail(own).replace('<mj-body>', `${named}<mj-body>`))).toContain('https://shop.example/own.css');
  });

  test('compiles deterministically', async () => {
    const source = mail(column('<mj-text>{{a}}</mj-text>'));
    expect(await html(source)).toBe(await html(source));
  });
});

describe('the MJML compiler refuses with line, column and fix', () => {
  test.each([
    [
      'an element that is not closed',
      mail('<mj-section>\n  <mj-column>\n</mj-section>'),
      '4:3 <mj-column> is not closed; Write </mj-column> before </mj-section>.',
    ],
    ['an element that never ends', '<mjml><mj-body>', '1:7 <mj-body> is not closed; Write </mj-body> where it ends.'],
    ['an end of nothing', mail('</mj-text>'), '3:1 </mj-text> closes what was not begun; <mj-body> is open here.'],
    [
      'an element that there is not',
      mail(column('<mj-txet>a</mj-txet>')),
      '3:24 There is no element <mj-txet>; Did you mean <mj-text>?',
    ],
    [
      'a file',
      mail('<mj-include path="/etc/passwd" />'),
      '3:1 mj-include is refused: a template reads no files; Use a partial: {{> name}}.',
    ],
    [
      'HTML between sections',
      mail('<div>a</div>'),
      '3:1 <div> is HTML and cannot stand in <mj-body>; Put it into <mj-text> or <mj-raw>.',
    ],
    ['no MJML', '<p>a</p>', '1:1 <p> stands outside of <mjml>; Put all of it into <mjml>.'],
    ['nothing', ' \n', '1:1 There is no <mjml>; Write <mjml><mj-body>...</mj-body></mjml>, here or in the layout.'],
    [
      'MJML in MJML',
      mail('<mjml></mjml>'),
      '3:1 <mjml> stands inside of another element; A template in a layout holds what goes into its body.',
    ],
    ['a comment that is not closed', mail('<!-- a'), '3:1 This comment is not closed; Close it: <!-- ... -->.'],
    [
      'a quote that is not closed',
      mail('<mj-text color="red>a</mj-text>'),
      '3:1 <mj-text is not closed; Close it with >, and every quote inside it.',
    ],
    [
      'a character that begins nothing between elements',
      mail('<mj-section>\na < b</mj-section>'),
      '4:3 This < begins no element; Write &lt; where you mean the character.',
    ],
    [
      'a declaration',
      '<!doctype html><mjml></mjml>',
      '1:1 A declaration cannot stand in MJML; Begin with <mjml>; the compiler writes the rest.',
    ],
    [
      'a body with nothing that the compiler knows',
      '<mjml><mj-head></mj-head></mjml>',
      /^1:1 This cannot be compiled: Malformed MJML.*; Compare it with the reference of MJML/,
    ],
    [
      'a value that would be lost',
      mail('\n<mj-section nobody="{{a}}"></mj-section>'),
      '4:21 {{a}} does not come out of the compiler; Blocks go into <mj-raw> between elements; values into text, or attributes that the element has.',
    ],
    [
      '32,000 tags of templates that are not closed',
      mail(column(`<mj-text>\n${'{{'.repeat(32_000)}</mj-text>`)),
      '4:1 This tag is not closed; Close it: {{...}}, or {{!-- ... --}}.',
    ],
    [
      '3,000 elements inside each other',
      mail(column(`<mj-text>${'<div>'.repeat(3000)}x${'</div>'.repeat(3000)}</mj-text>`)),
      '3:168 More than 32 elements inside each other; Remove elements that contain only one other element.',
    ],
    [
      '3,000 elements',
      mail(column(`<mj-text>${'<b>x</b>'.repeat(3000)}</mj-text>`)),
      /^3:\d+ More than 2000 elements; Use \{\{#each\}\}/,
    ],
    [
      'more than 64 KB',
      mail(column(`<mj-text>${'x'.repeat(64 * 1024)}</mj-text>`)),
      /^1:1 The source has 656\d\d characters with its layout and partials; 65536 are allowed; /,
    ],
    [
      'more HTML than a mail may have',
      mail(column('<mj-button>x</mj-button>').repeat(400)),
      /^1:1 The compiled HTML has \d+ bytes; at most 262144 are allowed; Use \{\{#each\}\}/,
    ],
  ])('%s', async (_what, source, expected) => {
    const [first, ...more] = await told(source);
    if (typeof expected === 'string') expect(first).toBe(expected);
    else expect(first).toMatch(expected);
    expect(more).toEqual([]);
    // Whatever it was, the next source is compiled.
    expect(await html(mail(column('<mj-text>{{a}}</mj-text>')))).toContain('{{a}}');
  });

  test('a template block that compilation would move elsewhere', () => {
    const swapped = lostTag('{{#if a}}x{{else}}y{{/if}}', '{{else}}y{{#if a}}x{{/if}}');
    expect(swapped).toMatchObject({ line: 1, column: 11, message: '{{else}} comes out in another place' });
    expect(lostTag('{{a}}{{b}}', '{{b}}{{a}}{{a}}')).toBeNull();
    expect(lostTag('{{a}}{{a}}', '{{a}}')).toMatchObject({ column: 6 });
  });

  test.each(['{{', '{{!', '{{!--', '{{~!--', '{{!--}}', '{{a', '\\{{', '{{a}}'])(
    'a megabyte of %s, read in one pass (a pass per tag would take minutes)',
    (piece) => {
      const source = piece.repeat(2 ** 20 / piece.length);
      const isClosed = piece.endsWith('}}') || piece.startsWith('\\');
      expect(unclosedTag(source)?.column).toBe(isClosed ? undefined : 1);
      expect(lostTag(source, source)).toBeNull();
    },
  );

  test('an unclosed template tag, but not escaped braces and comments', () => {
    expect(unclosedTag('{{a}}\n {{b')).toMatchObject({ line: 2, column: 2 });
    expect(unclosedTag('{{!-- }} {{a}}')).toMatchObject({ line: 1, column: 1 });
    expect(unclosedTag(String.raw`\{{ {{!-- {{ --~}} {{{a}}} {{!--}} {{~! {{ ~}}`)).toBeNull();
  });
});

/** A script for a thread that does this with each order. */
const scriptThat = (does: string): URL =>
  new URL(
    `data:text/javascript,import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${does} }); parentPort.postMessage({ ready: true });`,
  );

test('the MJML compiler ends a compilation that takes too long together with its thread', async () => {
  const heard: string[] = [];
  let threads = 0;
  const silent = createMjmlCompiler({
    clockMs: 1,
    lookMs: 1,
    script: () => {
      threads += 1;
      return scriptThat('');
    },
    onStopped: (message) => void heard.push(message),
  });
  const source = mail(column('<mj-text>{{a}}</mj-text>'));
  const results = await Promise.all(Array.from({ length: 3 }, () => silent.compile(source)));
  await silent.close();
  const message = 'The compiler stopped: compiling took more than 2000 ms';
  for (const result of results)
    expect(result).toMatchObject({ ok: false, stopped: true, faults: [{ line: 1, column: 1, message }] });
  expect(heard).toEqual(Array.from({ length: 3 }, () => 'compiling took more than 2000 ms'));
  // A thread that kept running would have been reused.
  expect(threads).toBe(3);
});

test('the MJML compiler compiles the next source in a new thread after one has ended', async () => {
  let threads = 0;
  const own = createMjmlCompiler({
    script: () => {
      threads += 1;
      return threads === 1 ? scriptThat('process.exit(1);') : new URL('../src/worker.ts', import.meta.url);
    },
  });
  const source = mail(column('<mj-text>{{a}}</mj-text>'));
  const [first, second] = await Promise.all([own.compile(source), own.compile(source)]);
  await own.close();
  expect(first).toMatchObject({ ok: false, faults: [{ message: 'The compiler stopped: its thread ended' }] });
  expect(second).toMatchObject({ ok: true });
  expect(JSON.stringify(second)).toContain('{{a}}');
  expect(threads).toBe(2);
});

test('the MJML compiler finishes running work when it is closed, and accepts no more', async () => {
  const own = createMjmlCompiler();
  const last = own.compile(mail(column('<mj-text>{{a}}</mj-text>')));
  await own.close();
  expect(await last).toMatchObject({ ok: true });
  await expect(own.compile(mail(''))).rejects.toThrow('closed');
});
