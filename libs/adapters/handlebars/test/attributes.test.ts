import { afterAll, describe, expect, test } from 'vitest';
import { createTemplateRenderer } from '../src/index.ts';
import { email } from './support/email.ts';

const renderer = createTemplateRenderer();
afterAll(() => renderer.close());
const warnings = (html: string): readonly string[] =>
  renderer.warnings(email({ subject: 's', html })).map(({ line, column, message }) => `${line}:${column} ${message}`);

describe('a link in a template whose beginning comes from data', () => {
  test.each([
    ['<a href="{{link}}">', '1:10 the target of href comes from the event'],
    ["<a class=x href='{{link}}'>", '1:18 the target of href comes from the event'],
    ['<a\n  HREF = "{{link}}">', '2:11 the target of href comes from the event'],
    ['<a href=" {{link}}">', '1:11 the target of href comes from the event'],
    ['<img src="{{default image "x"}}">', '1:11 the target of src comes from the event'],
    ['<form action="{{to}}">', '1:15 the target of action comes from the event'],
    ['<a href="{{#if a}}{{b}}{{else}}{{url c}}{{/if}}">', '1:19 the target of href comes from the event'],
    ['<a href="{{#if a}}{{url b}}{{else}}{{c}}{{/if}}">', '1:36 the target of href comes from the event'],
    ['{{#each items}}<a href="{{link}}">{{/each}}', '1:25 the target of href comes from the event'],
  ])('causes a warning: %s', (html, words) => {
    expect(warnings(html)).toEqual([expect.stringContaining(words)]);
  });

  test.each([
    '<a href="{{url link}}">{{name}}</a>',
    '<a href="https://shop.example/{{order_id}}?to={{name}}">',
    '<a href="{{url a}}#{{b}}">',
    '<p title="{{name}}" data-href="{{x}}">{{link}}</p>',
    '<p>a < b href="{{x}}"</p>',
    '<p>href="{{x}}"</p>',
    '<br/>{{x}}',
  ])('causes no warning: %s', (html) => {
    expect(warnings(html)).toEqual([]);
  });
});

test('a template with data in an attribute value without quotes causes a warning, also after other text', () => {
  expect(warnings('<a href=https://shop.example/{{id}} title=x>')).toEqual([
    '1:30 the value of href has no quotes, so a space in the data starts another attribute',
  ]);
  expect(warnings('<p class=a{{#if b}}{{c}}{{/if}}>')).toEqual([expect.stringContaining('the value of class')]);
});

test('a template with faults causes no warnings, and a long one is read in one pass', () => {
  expect(warnings('<a href="{{link}}">{{{x}}}')).toEqual([]);
  expect(warnings('<a href="'.repeat(5000))).toEqual([]);
});
