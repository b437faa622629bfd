import type { Security } from '@carillon/domain/configuration';

/** The credential that a stream takes, as a program that sends events knows it. */
export type SampleCredential = {
  readonly kind: 'api_key' | 'jwt';
  /** Environment variable that the code samples read it from. */
  readonly variable: string;
  /** Advice for the holder of the credential (specification 5.1 and 5.2). */
  readonly advice: string;
};

const CREDENTIALS = {
  api_key: {
    kind: 'api_key',
    variable: 'CARILLON_API_KEY',
    advice: 'An API key belongs on a server, never in a page or an app.',
  },
  jwt: {
    kind: 'jwt',
    variable: 'CARILLON_JWT',
    advice: 'A JWT of who is signed in; a page or an app may send it.',
  },
} as const satisfies Readonly<Record<SampleCredential['kind'], SampleCredential>>;

/** Which of the two kinds the security setting of a stream names. */
export const credentialOf = ({ jwt_provider: provider }: Security): SampleCredential =>
  CREDENTIALS[provider === undefined ? 'api_key' : 'jwt'];
