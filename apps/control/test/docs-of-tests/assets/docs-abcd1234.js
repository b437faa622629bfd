document.title = 'Docs';
