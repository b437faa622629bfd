// Opens a session with the one-time word behind `#`, or with the owner token that somebody pastes.
const words = document.getElementById('words');

async function signIn(word) {
  const answer = await fetch('/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ word }),
  });
  if (answer.ok) return location.replace('/inbox');
  const problem = await answer.json();
  words.textContent = problem.detail;
  return undefined;
}

const word = location.hash.slice(1);
// The word leaves the address bar and the history before anything else.
if (word && location.pathname === '/welcome') {
  history.replaceState(null, '', '/welcome');
  void signIn(word);
}
document.getElementById('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  void signIn(document.getElementById('token').value.trim());
});
