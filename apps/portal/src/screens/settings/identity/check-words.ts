/** What a step of *Check API Credentials* looks at, in words. */
const STEPS: Readonly<Record<string, readonly [name: string, meaning: string]>> = {
  settings: ['Settings', 'Whether what is written here can be used at all.'],
  provider: ['What is asked', 'Where the keys come from, and what a token has to say.'],
  'key set': [
    'Public JWK set',
    'The address is allowed and answers, and at least one of its keys can verify a signature.',
  ],
  token: ['Token', 'What you pasted is a signed JWT.'],
  header: ['Header', 'Its algorithm is one that a public key verifies, and its type is expected.'],
  key: ['Key', 'The set has exactly one key that the token names.'],
  signature: ['Signature', 'The token was signed with this key, and nothing of it was changed.'],
  'required claims': ['Claims', 'Every claim that is needed is there.'],
  issuer: ['Issuer', 'The issuer (iss) is the one that you gave.'],
  audience: ['Audience', 'The audience (aud) names you: the token was made for this endpoint.'],
  time: ['Times', 'It counts already, and has not expired.'],
  streams: ['Event streams', 'Which of them take tokens of this provider.'],
};

export function checkWords(step: string): { readonly name: string; readonly meaning: string } {
  const [name, meaning] = STEPS[step] ?? [];
  if (name !== undefined && meaning !== undefined) return { name, meaning };
  if (step.startsWith('stream ')) {
    return {
      name: `Stream ${step.slice('stream '.length)}`,
      meaning: 'What whoever holds such a token may send there.',
    };
  }
  return { name: step, meaning: '' };
}
