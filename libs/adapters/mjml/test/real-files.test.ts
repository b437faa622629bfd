import mjml2html from 'mjml';
import { afterAll, describe, expect, it } from 'vitest';
import { createMjmlCompiler } from '../src/index.ts';

const compiler = createMjmlCompiler();
afterAll(() => compiler.close());

const compile = async (source: string): Promise<string> => {
  const result = await compiler.compile(source);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.html;
};
const official = async (source: string): Promise<string> => (await mjml2html(source, { fonts: {} })).html;

const page = (body: string, head = ''): string => `<mjml><mj-head>${head}</mj-head><mj-body>${body}</mj-body></mjml>`;
const column = (inside: string): string => `<mj-section><mj-column>${inside}</mj-column></mj-section>`;
const text = (inside: string): string => column(`<mj-text>${inside}</mj-text>`);

describe('the MJML compiler with files as people write them', () => {
  it.each([
    ['an attribute over several lines', text('<p style="\n  color: #aa0000;\n  margin: 0;\n">Hello {{name}}</p>')],
    ['text in other scripts in attributes', column('<mj-image src="a.png" alt="Привет, 世界, Grüße {{name}}" />')],
    ['text in other scripts', text('Привет, 世界, Grüße, שלום')],
    ['HTML that one part opens and another closes', '<mj-raw><div></mj-raw>' + text('a') + '<mj-raw></div></mj-raw>'],
    ['HTML without end tags', text(`<ul>${'<li>a'.repeat(50)}</ul><p>a<p>b`)],
    ['a less-than sign in text', text('1 < 2, <3')],
    ['attributes without quotes', text('<a href={{link}} target=_blank>a</a>')],
    ['conditions of Outlook', '<mj-raw><!--[if mso]><p>a</p><![endif]--><![if !mso]>b<![endif]></mj-raw>' + text('a')],
    [
      'a menu and icons',
      '<mj-section><mj-column><mj-social><mj-social-element name="x" src="x.png" href="https://x.example">X</mj-social-element></mj-social></mj-column></mj-section>',
    ],
  ])('compiles %s to the same HTML as mjml itself', async (_what, body) => {
    const source = page(body);
    expect(await compile(source)).toBe(await official(source));
    const windows = source.replaceAll('\n', '\r\n');
    expect(await compile(windows)).toBe(await official(windows));
  });

  it('keeps an attribute over several lines unchanged', async () => {
    const html = await compile(page(text('<p style="\n  color: #aa0000;\n">a</p>')));
    expect(html).toContain('<p style="\n  color: #aa0000;\n">');
    expect(html).not.toContain(String.raw`\n`);
  });

  it('compiles Windows line ends and comments between elements', async () => {
    const source =
      '<mjml>\r\n<mj-head>\r\n<mj-attributes><!-- defaults --><mj-all padding="0"/></mj-attributes>\r\n</mj-head>\r\n<mj-body><!-- a -->\r\n<mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section>\r\n</mj-body>\r\n</mjml>\r\n';
    const html = await compile(source);
    expect(html).toMatch(/padding:0;[^>]*>\s*<div[^>]*>Hello</);
    expect(html).toBe(await official(source));
  });

  it('writes the styles of <mj-style inline="inline"> into the elements', async () => {
    const html = await compile(
      page(text('<p class="red">{{a}} é</p>'), '<mj-style inline="inline">.red { color: red; }</mj-style>'),
    );
    expect(html).toContain('<p class="red" style="color: red;">{{a}} é</p>');
  });

  it('keeps the alt of pictures, in any script', async () => {
    const html = await compile(page(column('<mj-image src="a.png" alt="Заказ {{id}}" />')));
    expect(html).toMatch(/<img\s+alt="Заказ \{\{id\}\}" src="a.png"/);
  });

  it('sets attributes by <mj-html-attributes>', async () => {
    const attributes =
      '<mj-html-attributes><mj-selector path=".a div"><mj-html-attribute name="data-id">42</mj-html-attribute></mj-selector></mj-html-attributes>';
    expect(await compile(page(column('<mj-text css-class="a">x</mj-text>'), attributes))).toMatch(
      /<div[^>]* data-id="42"/,
    );
  });

  it('compiles a carousel and a menu to the same HTML each time, although mjml uses random ids', async () => {
    const source = page(
      column('<mj-carousel><mj-carousel-image src="a.png" /><mj-carousel-image src="b.png" /></mj-carousel>').repeat(
        2,
      ) + column('<mj-navbar hamburger="hamburger"><mj-navbar-link href="/a">A</mj-navbar-link></mj-navbar>'),
    );
    const html = await compile(source);
    expect(await compile(source)).toBe(html);
    const ids = html.match(/name="mj-carousel-radio-[0-9a-f]+"/g) ?? [];
    expect(new Set(ids).size).toBe(2);
  });

  it('carries nothing over from one source to the next', async () => {
    const inFont = column('<mj-text font-family="Own, Arial">a</mj-text>');
    const link = 'https://shop.example/own.css';
    expect(await compile(page(inFont, `<mj-font name="Own" href="${link}" />`))).toContain(link);
    expect(await compile(page(inFont))).not.toContain(link);
  });

  it('includes no file, wherever mj-include is written', async () => {
    const include = '<mj-include path="./package.json" type="html" />';
    expect(await compiler.compile(page(include))).toMatchObject({ ok: false });
    const inText = await compiler.compile(page(text(include)));
    expect(inText).toMatchObject({
      ok: false,
      faults: [{ message: 'mj-include is refused: a template reads no files' }],
    });
    const hidden = await compile(page(`<!-- ${include} -->${text('a')}`));
    expect(hidden).not.toContain('@carillon');
  });
});
