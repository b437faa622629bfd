import { assertNever, type JsonObject } from '@carillon/kernel';
import type { SampleCredential } from './credential.ts';
import { JAVASCRIPT, JSON_NOTATION, literal, PYTHON, quoted, unicodeEscape } from './literals.ts';

export const CODE_LANGUAGES = ['curl', 'javascript', 'python', 'go'] as const;
export type CodeLanguage = (typeof CODE_LANGUAGES)[number];

export type CodeFacts = {
  /** Where the event goes. */
  readonly url: string;
  readonly event: JsonObject;
  readonly credential: SampleCredential;
  /** Comment lines above the code. */
  readonly notes: readonly string[];
};

/**
 * Returns a complete program that sends one event, using only the language's standard library. The credential comes
 * from the environment. Values of the event come from tenants, and none can end its string literal.
 */
export function codeSample(language: CodeLanguage, facts: CodeFacts): string {
  switch (language) {
    case 'curl':
      return curl(facts);
    case 'javascript':
      return javascript(facts);
    case 'python':
      return python(facts);
    case 'go':
      return go(facts);
    default:
      return assertNever(language, 'language');
  }
}

const REPEAT = 'The same Idempotency-Key is the same event: send it again with it if no answer comes.';

const comment = (sign: string, lines: readonly string[]): string =>
  lines.map((line) => `${sign} ${line.replaceAll(/\s+/g, ' ')}\n`).join('');

/** Inside quotation marks that allow no escape, JSON's own escape stands for the mark. */
const without = (mark: string, json: string): string => json.replaceAll(mark, unicodeEscape(mark.charCodeAt(0)));

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl({ url, event, credential, notes }: CodeFacts): string {
  const { variable, advice } = credential;
  const body = without("'", literal(event, JSON_NOTATION, '  '));
  return `${comment('#', [...notes, `${variable}: ${advice}`, REPEAT])}curl -sS --fail-with-body -X POST ${shellQuoted(url)} \\
  -H "Authorization: Bearer \${${variable}:?is not set}" \\
  -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')" \\
  -d '${body}'
`;
}

function javascript({ url, event, credential, notes }: CodeFacts): string {
  const { variable, advice } = credential;
  return `${comment('//', ['node send.mjs', ...notes])}
// ${advice}
const credential = process.env.${variable};
if (!credential) throw new Error('${variable} is not set');

const event = ${literal(event, JAVASCRIPT, '  ')};

const response = await fetch(${quoted(url)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${credential}\`,
    'Content-Type': 'application/json',
    // ${REPEAT}
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: JSON.stringify(event),
});
console.log(response.status, await response.text());
if (!response.ok) process.exitCode = 1;
`;
}

function python({ url, event, credential, notes }: CodeFacts): string {
  const { variable, advice } = credential;
  return `${comment('#', ['python3 send.py', ...notes])}import json
import os
import sys
import urllib.error
import urllib.request
import uuid

event = ${literal(event, PYTHON, '    ')}

request = urllib.request.Request(
    ${quoted(url)},
    method="POST",
    data=json.dumps(event).encode(),
    headers={
        # ${advice}
        "Authorization": "Bearer " + os.environ["${variable}"],
        "Content-Type": "application/json",
        # ${REPEAT}
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
try:
    with urllib.request.urlopen(request) as response:
        print(response.status, response.read().decode())
except urllib.error.HTTPError as refused:
    sys.exit(f"{refused.code} {refused.read().decode()}")
`;
}

function go({ url, event, credential, notes }: CodeFacts): string {
  const { variable, advice } = credential;
  const body = without('`', literal(event, JSON_NOTATION, '\t'));
  return `${comment('//', ['go run send.go', ...notes])}package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

const event = \`${body}\`

func main() {
	// ${advice}
	credential := os.Getenv("${variable}")
	if credential == "" {
		log.Fatal("${variable} is not set")
	}
	// ${REPEAT}
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		log.Fatal(err)
	}

	request, err := http.NewRequest("POST", ${quoted(url)}, strings.NewReader(event))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+credential)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", hex.EncodeToString(key))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, string(answer))
	if response.StatusCode != http.StatusAccepted {
		os.Exit(1)
	}
}
`;
}
