import type { Check } from '../../ports.ts';

type StepText = { readonly title: string; readonly meaning: string };

const STEPS: Readonly<Record<string, StepText>> = {
  settings: { title: 'Settings', meaning: 'Whether these settings can be used.' },
  provider: { title: 'What is asked', meaning: 'Where the keys come from, and what a token has to say.' },
  'key set': {
    title: 'Public JWK set',
    meaning: 'The address is allowed and answers, and at least one of its keys can verify a signature.',
  },
  token: { title: 'Token', meaning: 'What you pasted is a signed JWT.' },
  header: {
    title: 'Header',
    meaning: 'Its algorithm is one that a public key verifies, and its type is expected.',
  },
  key: { title: 'Key', meaning: 'The set has exactly one key that the token names.' },
  signature: { title: 'Signature', meaning: 'The token was signed with this key, and nothing of it was changed.' },
  'required claims': { title: 'Claims', meaning: 'Every claim that is needed is there.' },
  issuer: { title: 'Issuer', meaning: 'The issuer (iss) is the one that you gave.' },
  audience: {
    title: 'Audience',
    meaning: 'The audience (aud) names you: the token was made for this endpoint.',
  },
  time: { title: 'Times', meaning: 'It is valid already and has not expired.' },
  streams: { title: 'Event streams', meaning: 'Which of them take tokens of this provider.' },
};

/** Returns a step of the check of a JWT provider with its title and meaning. */
export function withText(check: Check): Check & Partial<StepText> {
  const { step } = check;
  if (step.startsWith('stream ')) {
    const title = `Stream ${step.slice('stream '.length)}`;
    return { ...check, title, meaning: 'What whoever holds such a token may send there.' };
  }
  return { ...check, ...STEPS[step] };
}
