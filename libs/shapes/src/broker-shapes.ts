import { z } from 'zod';
import { keys, said, secret, text } from './shape-parts.ts';

export const BROKER = /^[A-Za-z0-9_.-]+:\d{1,5}$/;
export const broker = z.string().regex(BROKER, { error: 'host:port, such as kafka-1:9092' });

/** Labels of a form in the portal. Left out for keys that are set in files only. */
type SaslForms = Readonly<
  Record<'mechanism' | 'username' | 'password', NonNullable<Parameters<typeof said>[1]['form']>>
>;

/** Returns the shape of the credentials for brokers. `password` describes where the password is stored. */
export const saslOf = (password: string, forms?: SaslForms) =>
  keys({
    mechanism: said(z.enum(['plain', 'scram-sha-256', 'scram-sha-512']), {
      description: 'How the password is proved.',
      ...(forms && { form: forms.mechanism }),
    }),
    username: said(text(256), { description: 'User name.', ...(forms && { form: forms.username }) }),
    password: said(secret, { description: password, ...(forms && { form: forms.password }) }),
  });

/** An address without a password: a URL with one would be a secret in a file. */
export const urlOf = (pattern: RegExp, example: string) =>
  z
    .string()
    .regex(pattern, { error: `an address such as ${example}` })
    .refine((url) => !/^[^/]*\/\/[^/@]*:[^/@]*@/.test(url), {
      error: 'an address without a password: write username and password: { secret: NAME } beside it',
    });
