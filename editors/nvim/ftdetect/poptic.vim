autocmd BufRead,BufNewFile *.poptic setfiletype poptic
