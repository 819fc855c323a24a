//! The flags of programs that take a value, and which of those values are files.

use crate::programs::arguments::Flags;

pub(crate) const AWK: Flags = "-F= -v= -f=r -i= -l= -e= -o? -p? -d? --field-separator= --assign= --file=r --include= \
    --pretty-print? --profile? --dump-variables?";
pub(crate) const BASE32: Flags = "-w= --wrap= -i=r -o=w --input=r --output=w";
pub(crate) const BAT: Flags = "-l= -r= -H= --language= --theme= --style= --line-range= --wrap= --tabs= --highlight-line= \
    --pager= --paging= --color=";
pub(crate) const CP: Flags =
    "-t= -S= --target-directory= --suffix= --backup? --sparse= --reflink? --no-preserve= --preserve?";
pub(crate) const CURL: Flags = "-o= -d= -F= -T=r -K=r -c=w -D=w -b= -H= -X= -u= -A= -e= -x= -m= -w= -E=r -U= -r= -C= -y= -Y= -z= \
    -Q= -t= -P= --output= --data= --data-ascii= --data-binary= --data-raw= --data-urlencode= --json= \
    --form= --form-string= --upload-file=r --config=r --cookie-jar=w --dump-header=w --cookie= \
    --header= --request= --user= --user-agent= --referer= --proxy= --max-time= --write-out= --cert=r \
    --key=r --cacert=r --capath= --netrc-file=r --output-dir= --url= --retry= --retry-delay= \
    --retry-max-time= --connect-timeout= --limit-rate= --range= --resolve= --interface= --trace=w \
    --trace-ascii=w --stderr=w --max-redirs= --proxy-user= --unix-socket= --etag-save=w \
    --etag-compare=r --hsts=w --alt-svc=w --libcurl=w --max-filesize= --noproxy= --oauth2-bearer= \
    --aws-sigv4= --ciphers= --create-file-mode= --variable=";
pub(crate) const CUT: Flags =
    "-d= -f= -b= -c= --delimiter= --fields= --bytes= --characters= --output-delimiter=";
pub(crate) const DIFF: Flags = "-U= -C= --unified= --context= -I= --label= -x= -X=r --exclude= --exclude-from=r --color? -W= --from-file=r --to-file=r";
pub(crate) const EDITOR: Flags = "-c= --cmd= -S=r -u= -s=r -w=w";
pub(crate) const EMACS: Flags =
    "-l=r -f= -d= -u= --load=r --eval= --execute= --funcall= --directory= -e= -s= --socket-name=";
pub(crate) const FORMATTER: Flags = "--config= --config-path= --config-file= -c? --edition= -l? --line-length= --parser= --style= --stdin-filepath= \
    --ignore-path= --emit= --parser-path= --plugin= --target-version= --profile= --select= --ignore= --rules= \
    --output-file=w -o? -ln= --filename= --settings-path= --settings-file=";
pub(crate) const GREP: Flags = "-e= -f=r -m= -A= -B= -C= -D= -d= --regexp= --file=r --max-count= --after-context= \
    --before-context= --context= --include= --exclude= --exclude-from=r --exclude-dir= --label= \
    --color? --colour? --binary-files= --devices= --directories=";
pub(crate) const GZIP: Flags = "-S= -o=w -T= --suffix= --threads=";
pub(crate) const HEAD: Flags = "-n= -c= --lines= --bytes= --pid= -s= --sleep-interval=";
pub(crate) const INSTALL: Flags =
    "-t= -S= -m= -o= -g= --target-directory= --suffix= --mode= --owner= --group= --backup?";
pub(crate) const JQ: Flags = "-f=r --from-file=r --arg= --argjson= --slurpfile= --rawfile= --indent= -L=";
pub(crate) const MV: Flags = "-t= -S= --target-directory= --suffix= --backup?";
pub(crate) const NODE: Flags = "-e= -p= -r= --eval= --print= --require= --import= --loader= --env-file=r --env-file-if-exists=r \
    -C= --conditions=";
pub(crate) const OD: Flags = "-A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --format=";
pub(crate) const OPENSSL: Flags = "-in=r -out=w -o=w -f=r -e= -k= -pass= -passin= -inkey=r -key=r -cert=r -CAfile=r --output=w -r= \
    --recipient= -i=r -t= -b= -C= -N= -u=";
pub(crate) const PATCH: Flags = "-i=r -o=w -p= -d= -B= -D= -F= -r=w -V= -z= --input=r --output=w --strip= --directory= --fuzz= \
    --reject-file=w";
pub(crate) const PYTHON: Flags = "-c= -W= -X= -Q= -m=";
pub(crate) const RG: Flags = "-e= -f=r -g= -t= -T= -m= -A= -B= -C= -r= -d= -j= -M= -E= -G= --regexp= --file=r --glob= --iglob= \
    --type= --type-not= --max-count= --max-depth= --replace= --sort= --sortr= --threads= --encoding= \
    --ignore-file=r --after-context= --before-context= --context= --color= --colors= --max-columns= \
    --pre= --engine= --type-add= --context-separator=";
pub(crate) const RSYNC: Flags = "-e= -f= -T= -B= -M= --rsh= --exclude= --include= --exclude-from=r --include-from=r \
    --files-from=r --log-file=w --filter= --rsync-path= --bwlimit= --port= --password-file=r \
    --chmod= --chown= --info= --timeout= --partial-dir= --temp-dir= --compare-dest= --link-dest= \
    --out-format= --suffix= --backup-dir=";
pub(crate) const SCRIPT: Flags = "-r= -e= -d= -l= -f=r --eval=";
pub(crate) const SED: Flags = "-e= -f=r -i? -I? -l= --expression= --file=r --in-place? --line-length=";
pub(crate) const SEVEN: Flags = "-o? -p? -m? -t? -x? -i? -w? -v? -s? -a? -r?";
pub(crate) const SHELL: Flags = "-c= -o=";
pub(crate) const SHUF: Flags = "-n= -o=w --head-count= --output=w --random-source=r -i= --input-range=";
pub(crate) const SORT: Flags = "-o=w -k= -t= -S= -T= --output=w --key= --field-separator= --buffer-size= --temporary-directory= \
    --files0-from=r --compress-program= --parallel=";
pub(crate) const SPLIT: Flags = "-a= -b= -C= -l= -n= --bytes= --lines= --number= --suffix-length=";
pub(crate) const SU: Flags = "-c= --command= -n= --interval= -w= -s= -g= -u= --user= --group= --shell= -E=";
pub(crate) const UNIQ: Flags =
    "-f= -s= -w= --skip-fields= --skip-chars= --check-chars= --group? --all-repeated?";
pub(crate) const WGET: Flags = "-O= -o=w -a=w -P= -i=r -U= -t= -T= -w= -Q= -e= -D= -R= -A= -I= -X= -l= --output-document= \
    --output-file=w --append-output=w --directory-prefix= --input-file=r --post-file=r --body-file=r \
    --post-data= --body-data= --method= --header= --user= --password= --user-agent= --referer= \
    --load-cookies=r --save-cookies=w --tries= --timeout= --wait= --limit-rate= --config=r \
    --ca-certificate=r --certificate=r --private-key=r --accept= --reject= --domains= --level=";
pub(crate) const YQ: Flags = "-f= --from-file=r -o= -p= --output-format= --input-format= --indent= -I=";
