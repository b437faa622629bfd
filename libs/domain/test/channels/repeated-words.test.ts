import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutRepeatedWords, type Message } from '../../src/channels/index.ts';
import { providerResult } from '../../src/deliveries/index.ts';

const SMS: Message = { channel: 'sms', to: '+4915112345678', text: 'Your code is 481516. Tell it to nobody at all!' };
const PUSH: Message = {
  channel: 'push',
  to: 'fGx81:APA91bEx-ample_Token',
  title: 'Parcel',
  body: 'It waits at the corner shop',
  image: null,
  link: 'https://shop.example.com/p/9f31',
  data: { order: 'A-7781' },
  priority: null,
  collapse: null,
  androidChannel: null,
  apnsSound: null,
};
const EMAIL: Message = {
  channel: 'email',
  to: 'Ada@example.com',
  from: { name: '', address: 'shop@example.com' },
  subject: 'Paid',
  text: 'Thanks for your order\nof two red bicycles',
  html: '<p>The hidden word of the page is abracadabra</p>',
  messageId: '<1@example.com>',
};
const detailOf = (detail: string, message: Message): string =>
  withoutRepeatedWords(providerResult('refused_content', '400', detail), message).detail;

describe('a provider’s error text that quotes the message', () => {
  it('has the address masked in any spelling', () => {
    expect(detailOf('no such user ADA@EXAMPLE.COM here', EMAIL)).toBe('no such user <address> here');
    expect(detailOf("The 'To' number +4915112345678 is not valid.", SMS)).toBe(
      "The 'To' number <address> is not valid.",
    );
    expect(detailOf('token fGx81:APA91bEx-ample_Token is gone', PUSH)).toBe('token <address> is gone');
    expect(detailOf('İ said +4915112345678', SMS)).toBe('İ said <address>');
  });

  it('has codes, numbers, links and quoted words of the message masked, however they are broken, cased and quoted', () => {
    expect(detailOf('blocked: 481516', SMS)).toBe('blocked: <content>');
    expect(detailOf('spam: "TELL it\n to nobody" was said', SMS)).toBe('spam: <content> was said');
    expect(detailOf('link https://shop.example.com/p/9f31 is listed', PUSH)).toBe('link <content> is listed');
    expect(detailOf('order a-7781 in data', PUSH)).toBe('order <content> in data');
    expect(detailOf('"of two red bicycles" looks like spam', EMAIL)).toBe('<content> looks like spam');
    expect(detailOf('title "Parcel" is listed', PUSH)).toBe('title <content> is listed');
    expect(detailOf('found: hidden word of the page', EMAIL)).toBe('found: <content>');
  });

  it('keeps codes of the provider and words that are common', () => {
    const words = 'Error 30006: the carrier cannot reach your phone (see https://www.example.com/errors/30006)';
    expect(detailOf(words, SMS)).toBe(words);
    const result = providerResult('accepted', '250', 'queued as 4F2A');
    expect(withoutRepeatedWords(result, SMS)).toBe(result);
    expect(detailOf('', SMS)).toBe('');
  });

  it('never contains three consecutive words of the message', () => {
    const word = fc.stringMatching(/^[a-zäö]{3,9}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 3, maxLength: 12 }),
        fc.array(fc.stringMatching(/^[A-Z]{10,12}$/), { maxLength: 4 }),
        fc.nat(20),
        fc.constantFrom(' ', '\n', '  \t'),
        (words, around, cut, between) => {
          const from = cut % (words.length - 2);
          const detail = [...around, ...words.slice(from), ...around].join(between);
          const masked = detailOf(detail, { ...SMS, text: words.join(' ') });
          const left = masked.split(/\s+/).filter((one) => words.includes(one));
          expect(left).toEqual([]);
          for (const one of around) expect(masked).toContain(one);
        },
      ),
    );
  });
});
