import { templateOf, type ChannelName, type ChannelTemplate } from '@carillon/domain/channels';
import type { TemplateBody } from '@carillon/domain/configuration';
import type { JsonObject } from '@carillon/kernel';
import { describe, expect, test } from 'vitest';
import { createTemplateRenderer } from '../src/index.ts';

const renderer = createTemplateRenderer();
const of = (body: TemplateBody, channel: ChannelName): ChannelTemplate => {
  const template = templateOf(body, channel);
  if (!template) throw new Error(`nothing for ${channel}`);
  return template;
};
const sms = (text: string): ChannelTemplate => of({ sms: { text } }, 'sms');
const push = (body: NonNullable<TemplateBody['push']>): ChannelTemplate => of({ push: body }, 'push');
const LOCALITY = { locale: 'en', timeZone: 'UTC' };
let keys = 0;
const render = (template: ChannelTemplate, context: JsonObject) => {
  keys += 1;
  return renderer.render(`channels/${keys}`, template, context, LOCALITY);
};
const EVIL = `O'Neil & <b>\r\nBcc: x@evil.example\u0000\u001b[2J`;

describe('an SMS template', () => {
  test('renders values unescaped, with their line breaks, without control characters', async () => {
    expect(await render(sms('Hi {{name}}!\nBye'), { name: EVIL })).toEqual({
      ok: true,
      parts: { text: "Hi O'Neil & <b>\nBcc: x@evil.example[2J!\nBye" },
      missing: [],
    });
  });

  test('fails if the text has more than 1,600 characters instead of cutting it, and accepts 1,600', async () => {
    expect(await render(sms('{{a}}'), { a: 'x'.repeat(1600) })).toMatchObject({ ok: true });
    const long = { ok: false, part: 'text', message: 'The result is longer than 1600 characters' };
    expect(await render(sms('{{a}}'), { a: 'x'.repeat(1601) })).toEqual(long);
    expect(await render(sms(`${'x'.repeat(1000)}{{a}}`), { a: 'x'.repeat(601) })).toEqual(long);
    expect(await render(sms('{{#each a}}xx{{/each}}'), { a: Array.from({ length: 801 }, () => 1) })).toEqual(long);
  });

  test('fails at once with a variable of a megabyte', async () => {
    expect(await render(sms('{{a}}'), { a: 'x'.repeat(1_048_576) })).toMatchObject({ ok: false, part: 'text' });
  });

  test('must have a text that can be parsed', () => {
    expect(renderer.check(sms('{{#if a}}'))).toMatchObject([{ part: 'text', line: 1 }]);
    expect(renderer.check({ channel: 'sms', parts: {}, settings: {}, strict: false, compiled: [] })).not.toEqual([]);
    expect(renderer.names(sms('{{a.b}} {{c}}')).names).toEqual(['a', 'c']);
  });

  test('may use three braces, because nothing is escaped', async () => {
    expect(await render(sms('{{{a}}}'), { a: '<' })).toMatchObject({ parts: { text: '<' } });
  });
});

describe('a push notification template', () => {
  const full = push({
    title: 'Hi {{name}}',
    body: 'Dear {{name}}',
    image: '{{image}}',
    link: 'https://shop.example.com/{{id}}',
    data: { order: '{{id}}', note: '{{name}}' },
    collapse: 'order-{{id}}',
  });

  test('is rendered part by part, with a one-line title and without escaping', async () => {
    const rendered = await render(full, { name: EVIL, id: 7, image: 'https://img.example/a.png' });
    expect(rendered).toEqual({
      ok: true,
      parts: {
        title: "Hi O'Neil & <b> Bcc: x@evil.example [2J",
        body: "Dear O'Neil & <b>\nBcc: x@evil.example[2J",
        image: 'https://img.example/a.png',
        link: 'https://shop.example.com/7',
        'data.order': '7',
        'data.note': "O'Neil & <b>\nBcc: x@evil.example[2J",
        collapse: 'order-7',
      },
      missing: [],
    });
  });

  test.each([
    'javascript:alert(1)',
    'http://shop.example.com/',
    '//evil.example',
    'https://',
    'https://a b/',
    'data:x',
  ])('fails if its image is not an https address: %s', async (image) => {
    expect(await render(full, { name: 'Ada', id: 1, image })).toEqual({
      ok: false,
      part: 'image',
      message: 'The result is not an https address',
    });
  });

  test('has no image if the variable of its image is missing', async () => {
    expect(await render(full, { name: 'Ada', id: 1 })).toMatchObject({ parts: { image: '' }, missing: ['image'] });
  });

  test('fails if link or collapse key is too long, because a shortened one would differ in meaning', async () => {
    const link = 'The result is longer than 2000 characters';
    expect(await render(full, { name: 'A', id: 'x'.repeat(2000) })).toMatchObject({ part: 'link', message: link });
    const collapse = 'The result is longer than 64 bytes';
    const accented = await render(full, { name: 'A', id: 'é'.repeat(30) });
    expect(accented).toMatchObject({ ok: false, part: 'collapse', message: collapse });
  });

  test('lists the names of all its parts, and an error in a data field names the field', () => {
    expect(renderer.names(full).names).toEqual(['id', 'image', 'name']);
    expect(renderer.check(push({ title: 'a', data: { order: 'x\n{{#if}}' } }))).toMatchObject([
      { part: 'data.order', line: 2 },
    ]);
  });

  test('is refused with data alone, because nobody would see a message', () => {
    expect(renderer.check(push({ data: { order: '1' } }))).toEqual([
      {
        part: 'title',
        line: 1,
        column: 1,
        message: 'The template has no content',
        fix: 'Give it title, body or several of them.',
      },
    ]);
  });

  test('renders in a worker as on the main thread', async () => {
    const context = { name: 'Ada', id: 1, image: 'https://img.example/a.png' };
    const first = await renderer.render('same-push', full, context, LOCALITY);
    expect(await renderer.render('same-push', full, context, LOCALITY)).toEqual(first);
  });
});
