document.title = 'Carillon';
