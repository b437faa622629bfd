import { describe, expect, test } from 'vitest';

import { textOfHtml } from '../src/plain-text.ts';

describe('the text version made from HTML', () => {
  test.each([
    ['paragraphs stand apart', '<p>One</p>\n<p>Two\n  lines</p>', 'One\n\nTwo lines'],
    ['breaks are lines', 'a<br>b<br/>c<br><br>d', 'a\nb\nc\n\nd'],
    [
      'rows are lines, cells are words',
      '<table><tr><td>Pen</td><td>2</td></tr><tr><td>Ink</td><td>1</td></tr></table>',
      'Pen 2\nInk 1',
    ],
    ['lists have dashes', '<ul><li>a</li><li>b</li></ul>', '- a\n- b'],
    [
      'links show where they lead',
      'See <a class="b" href="https://a.example/?x=1&amp;y=2">your <b>order</b></a>.',
      'See your order (https://a.example/?x=1&y=2).',
    ],
    [
      'links that show it already do not twice',
      '<a href="https://a.example">https://a.example</a> <a href="mailto:a@b.example">a@b.example</a>',
      'https://a.example a@b.example',
    ],
    ['links around pictures', '<a href="https://a.example"><img alt="Logo" src="x"></a>', 'Logo (https://a.example)'],
    ['links without a place are words', '<a name="x">here</a> <a href="#y">there</a>', 'here there'],
    [
      'what nobody sees is left out',
      '<head><title>T</title><style>p{a:b}</style></head><!-- c --><p>x</p><script>y</script>',
      'x',
    ],
    [
      'entities are characters',
      '&lt;b&gt; &amp;amp; &euro;5 &#8364; &#x20AC; &unknown; &nbsp;x',
      '<b> &amp; €5 € € &unknown; \u00a0x',
    ],
    ['< may be a character', '1 < 2 and <3', '1 < 2 and <3'],
    ['> may stand in an attribute', '<img alt="a > b" src="x">c', 'a > bc'],
  ])('%s', (_name, html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });
});
