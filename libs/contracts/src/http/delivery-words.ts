import { z } from 'zod';
import { nullable } from './fields.ts';
import { open } from './privacy.ts';

/** A state and its reason in words, beside their codes. */
export const standing = {
  state_words: open(z.string()).describe('The state as people read it, such as `In doubt`'),
  reason_words: nullable(open(z.string())).describe('The reason in a few words. Null if it repeats the state'),
  sentence: open(z.string()).describe('What the reason means, in lower case and without a full stop'),
};

/** Texts of states and reasons in a timeline, as sentences. */
export const storyWords = {
  state_words: nullable(open(z.string())).describe('The state as people read it'),
  reason_words: nullable(open(z.string())).describe('The reason in a few words. Null if state or text say the same'),
};
