import { describe, expect, it } from 'vitest';
import { whyText } from '../src/screens/deliveries/why-text.ts';

const capped = { reason_words: 'capped', sentence: 'a limit allows no more', detail: '' };

describe('why a delivery is in its state', () => {
  it('is the sentence of the API, with the detail behind it', () => {
    expect(whyText(capped)).toBe('A limit allows no more');
    expect(whyText({ ...capped, detail: '3 in 24h' })).toBe('A limit allows no more: 3 in 24h');
  });

  it('is only the detail if the state says the reason', () => {
    const sent = { reason_words: null, sentence: 'accepted by the provider', detail: '250 ok' };
    expect(whyText(sent)).toBe('250 ok');
    expect(whyText({ ...sent, detail: '' })).toBeNull();
  });
});
